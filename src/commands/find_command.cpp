#include "src/commands/find_command.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bullring {

namespace {

/// Where execvp() looks when PATH is unset.
constexpr std::string_view standard_path = "/bin:/usr/bin";

enum class Look { found, not_there, not_executable };

Look look_at(const std::string& path) {
    struct stat what {};
    if (::stat(path.c_str(), &what) != 0) return Look::not_there;
    if (!S_ISREG(what.st_mode) || ::access(path.c_str(), X_OK) != 0) return Look::not_executable;
    return Look::found;
}

tl::expected<void, std::string> answer(Look look, const std::string& program) {
    if (look == Look::found) return {};
    return tl::unexpected(
        fmt::format("the command \"{}\" is {}; right is a program that can be executed", program,
                    look == Look::not_there ? "not found" : "not executable"));
}

}  // namespace

tl::expected<void, std::string> find_command(const std::string& program) {
    if (program.find('/') != std::string::npos) return answer(look_at(program), program);
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? standard_path : std::string_view(path);
    Look best = Look::not_there;
    while (true) {
        const std::size_t colon = rest.find(':');
        const std::string_view directory = rest.substr(0, colon);
        const std::string place = directory.empty() ? "." : std::string(directory);
        const Look look = look_at(place + "/" + program);
        if (look == Look::found) return {};
        if (look == Look::not_executable) best = look;
        if (colon == std::string_view::npos) return answer(best, program);
        rest.remove_prefix(colon + 1);
    }
}

void open_missing_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free number, which is the one that is missing.
        if (::open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0) return;
    }
}

}  // namespace bullring
