// Owns: the variables by which what a node starts (its command, hooks, health check) is told where
// it runs. None of them configures a bullring that is started below: those have other names.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bullring {

namespace told {

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

}  // namespace told

/// Whether a variable of this name is one of them.
bool is_told(std::string_view name);

/// NAME=value.
std::string told_variable(std::string_view name, std::string_view value);

/// This process's environment with these in the place of what it has been told itself.
std::vector<std::string> environment_with(std::vector<std::string> told);

}  // namespace bullring
