// Owns: how many descriptors a node may need, and who may have the last ones. Strangers can take as
// many as the limits of protocol/README.md §3 allow; what is left must be enough for the members,
// for the children that hooks and health checks are, and for the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace bullring {

/// With all limits reached.
std::size_t descriptors_needed(std::size_t members);

/// Raises this process's soft limit to `needed`, or as far as it may. Before there are threads.
void raise_descriptor_limit(std::size_t needed);

/// The soft limit before it was raised; 0 if it was not. Programs that use select(2), and those
/// that close all that may be open, are to be started with the limit that the user has set.
std::uint64_t descriptor_limit_before();

/// Sets the soft limit of a process, 0 being this one. A limit of 0 changes nothing.
void set_descriptor_limit(pid_t process, std::uint64_t limit);

/// What is wrong with the limit, and what would be right; nothing when it is enough.
std::optional<std::string> descriptor_shortage(std::size_t needed);

/// True for one of the last descriptors that may be open: it is the node's own, and nobody's who
/// only connects.
bool is_reserved_descriptor(int fd, std::size_t members);

}  // namespace bullring
