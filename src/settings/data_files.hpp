// The files that a node keeps in its data directory, by name. No other file may be written there
// under one of these.
#pragma once

#include <array>

namespace bullring {

inline constexpr const char* state_file_name = "state";
inline constexpr const char* new_state_file_name = "state.tmp";  // before it is the state
inline constexpr const char* lock_file_name = "lock";
/// On which a node takes the messages of observers from the directory's owner: whoever that is may
/// command the node.
inline constexpr const char* control_socket_name = "control.sock";
inline constexpr const char* lead_socket_name = "lead.sock";      // of `bullring lead`
inline constexpr const char* attach_socket_name = "attach.sock";  // of attached processes
inline constexpr const char* progress_file_name = "progress";     // that a command touches
inline constexpr const char* removed_file_name = "removed";       // somebody has removed the node
inline constexpr const char* refounded_file_name = "refounded";   // it was made the only member

inline constexpr std::array data_file_names{
    state_file_name,     new_state_file_name, lock_file_name,
    control_socket_name, lead_socket_name,    attach_socket_name,
    progress_file_name,  removed_file_name,   refounded_file_name};

}  // namespace bullring
