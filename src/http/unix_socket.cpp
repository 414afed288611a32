#include "src/http/unix_socket.hpp"

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "src/base/text/failure_text.hpp"

namespace bullring {

tl::expected<LocalListener, std::string> listen_at(const std::string& path) {
    const auto failed = [&](const std::string& why) {
        return tl::unexpected(fmt::format("cannot listen on unix:{}: {}", path, why));
    };
    const std::filesystem::path file(path);
    const std::string parent = file.parent_path().string();
    const std::string directory = parent.empty() ? "." : parent;
    struct stat there {};
    if (::lstat(path.c_str(), &there) == 0) {
        if (!S_ISSOCK(there.st_mode)) return failed("there is a file that is not a socket");
        // Nobody accepts connections at one that was left over.
        const auto probe = connect_locally(directory, file.filename().string(), SOCK_STREAM);
        if (probe || probe.error() != ECONNREFUSED) return failed(reason_text(EADDRINUSE));
    }
    auto made = LocalListener::open(directory, file.filename().string(), SOCK_STREAM);
    if (!made) return failed(made.error());
    return made;
}

}  // namespace bullring
