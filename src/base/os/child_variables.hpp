// Owns: the variables by which what a node starts (its command, hooks, health check) learns where
// it runs. None of them configures a bullring that is started below: those have other names.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bullring {

namespace variables {

inline constexpr std::string_view epoch = "BULLRING_EPOCH";
inline constexpr std::string_view leader = "BULLRING_LEADER";
inline constexpr std::string_view node_id = "BULLRING_NODE_ID";
inline constexpr std::string_view cluster_name = "BULLRING_CLUSTER_NAME";
inline constexpr std::string_view role = "BULLRING_ROLE";
inline constexpr std::string_view reason = "BULLRING_REASON";
inline constexpr std::string_view progress_file = "BULLRING_PROGRESS_FILE";
inline constexpr std::string_view progress_fd = "BULLRING_PROGRESS_FD";

inline constexpr std::array all{epoch, leader, node_id,       cluster_name,
                                role,  reason, progress_file, progress_fd};

}  // namespace variables

/// Whether a variable of this name is one of them.
bool is_child_variable(std::string_view name);

/// NAME=value.
std::string environment_entry(std::string_view name, std::string_view value);

/// This process's environment, with these entries in the place of such variables of its own.
std::vector<std::string> environment_with(std::vector<std::string> entries);

}  // namespace bullring
