#include "src/task/supervisor/find_program.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

/// Where execvp() looks when PATH is unset.
constexpr std::string_view standard_path = "/bin:/usr/bin";

/// 0, ENOENT or EACCES.
int error_of(const std::string& path) {
    struct stat what {};
    if (::stat(path.c_str(), &what) != 0) return errno == EACCES ? EACCES : ENOENT;
    return S_ISREG(what.st_mode) && ::access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

const char* reason(int error) { return error == ENOENT ? "not found" : "not executable"; }

/// The word behind `#!`; empty for a file that is no script, or cannot be read.
std::string interpreter_of(const std::string& path) {
    char begin[256] = {};
    const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file || ::read(file.get(), begin, sizeof begin - 1) < 0) return {};
    const std::string_view text = begin;
    if (!text.starts_with("#!")) return {};
    const std::string_view line = text.substr(2, text.find('\n') - 2);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return std::string(line.substr(first, line.find_first_of(" \t\r", first) - first));
}

tl::expected<std::string, NoProgram> answer(const std::string& path, int error,
                                            const std::string& name) {
    if (error != 0)
        return tl::unexpected(NoProgram{
            error,
            fmt::format("the command \"{}\" is {}; expected a program that can be executed{}", name,
                        reason(error),
                        name.find(' ') == std::string::npos
                            ? ""
                            : " (no shell is used: each word is an argument of its own, or give "
                              "sh -c \"…\")")});
    const std::string interpreter = interpreter_of(path);
    if (interpreter.empty()) return path;
    if (const int missing = error_of(interpreter); missing != 0)
        return tl::unexpected(NoProgram{
            missing,
            fmt::format("the command \"{}\" is a script for \"{}\", which is {}; expected an "
                        "interpreter that can be executed",
                        name, interpreter, reason(missing))});
    return path;
}

}  // namespace

tl::expected<std::string, NoProgram> find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return answer(name, error_of(name), name);
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? standard_path : std::string_view(path);
    int best = ENOENT;
    while (true) {
        const std::size_t colon = rest.find(':');
        const std::string_view directory = rest.substr(0, colon);
        const std::string place = (directory.empty() ? "." : std::string(directory)) + "/" + name;
        const int error = error_of(place);
        if (error == 0) return answer(place, 0, name);
        // A directory that may not be searched says nothing about what is in it.
        if (error == EACCES && ::access(place.c_str(), F_OK) == 0) best = EACCES;
        if (colon == std::string_view::npos) return answer(place, best, name);
        rest.remove_prefix(colon + 1);
    }
}

}  // namespace bullring
