// Owns: how many descriptors a node may need, what the last ones are reserved for, and what the
// kernel closes first. Strangers can take as many as the limits of protocol/README.md §3 allow; the
// rest must be enough for the members, for starting hooks and health checks, and for the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "src/base/os/owned_fd.hpp"

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

/// This process is a node, whose sessions are closed in so many orders, and nothing else, so what
/// follows may be done to it. Before there are threads: only then the kernel enlarges its table
/// without waiting for them.
void arrange_descriptors(std::size_t orders);

/// A killed process's descriptors are closed when the last thread that shares them has ended, and
/// until then none of its peers knows. From here on the calling thread has its own, stdin, stdout,
/// stderr and what is `kept`, and so is not waited for. False: it shares them as before, because
/// they were not arranged or the kernel refuses.
bool leave_shared_descriptors(std::vector<int> kept = {});

/// The same with another number, out of the way of all others': the kernel closes those of a dead
/// process from the highest down, and so that of `order` 1 before that of 0. As it was when they
/// were not arranged, or there are no more.
OwnedFd closed_in_order(OwnedFd fd, std::size_t order);

}  // namespace bullring
