// The nodes that run on this machine, as the kernel lists their control sockets. Those of other
// network namespaces, and those with a relative or a very long directory, are not found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bullring {

/// Their data directories.
std::vector<std::string> directories_of_local_nodes();
/// The same by the text of /proc/net/unix.
std::vector<std::string> directories_of_local_nodes(std::string_view sockets);

}  // namespace bullring
