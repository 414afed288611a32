#include "src/observe/local_nodes.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "src/settings/data_files.hpp"

namespace bullring {

std::vector<std::string> directories_of_local_nodes(std::string_view sockets) {
    const std::string file = std::string("/") + control_socket_name;
    std::vector<std::string> directories;
    while (!sockets.empty()) {
        const std::size_t end = std::min(sockets.find('\n'), sockets.size());
        std::string_view line = sockets.substr(0, end);
        sockets.remove_prefix(std::min(end + 1, sockets.size()));
        // The path is last, and may have blanks. The ends of connections have it, too.
        const std::size_t path = line.find(" /");
        if (path == std::string_view::npos || !line.ends_with(file)) continue;
        line.remove_prefix(path + 1);
        line.remove_suffix(file.size());
        const bool by_descriptor = line.starts_with("/proc/");
        if (by_descriptor ||
            std::find(directories.begin(), directories.end(), line) != directories.end())
            continue;
        directories.emplace_back(line);
    }
    return directories;
}

std::vector<std::string> directories_of_local_nodes() {
    std::ifstream sockets("/proc/net/unix");
    return directories_of_local_nodes(
        std::string(std::istreambuf_iterator<char>(sockets), std::istreambuf_iterator<char>()));
}

}  // namespace bullring
