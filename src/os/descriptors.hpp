// Owns: how many descriptors a node may need, and what the last ones are reserved for. Strangers
// can take as many as the limits of protocol/README.md §3 allow; the rest must be enough for the
// members, for starting hooks and health checks, and for the files.
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

/// A text that says that the limit is too low and what would be enough; nothing when it is enough.
std::optional<std::string> descriptor_shortage(std::size_t needed);

/// True for one of the last descriptors that may be open: it is reserved for the node itself, and a
/// mere connection must not keep it.
bool is_reserved_descriptor(int fd, std::size_t members);

}  // namespace bullring
