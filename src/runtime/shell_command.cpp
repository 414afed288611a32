#include "src/runtime/shell_command.hpp"

#include <string_view>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "src/os/children.hpp"
#include "src/os/descriptors.hpp"
#include "src/runtime/spawn_settings.hpp"

extern char** environ;

namespace bullring {

namespace {

constexpr std::string_view own_prefix = "BULLRING_";

/// The program's environment without its own settings, then `own`.
std::vector<char*> environment_of(std::vector<std::string>& own) {
    std::vector<char*> all;
    for (char** one = environ; *one != nullptr; ++one) {
        if (!std::string_view(*one).starts_with(own_prefix)) all.push_back(*one);
    }
    for (std::string& one : own) all.push_back(one.data());
    all.push_back(nullptr);
    return all;
}

}  // namespace

tl::expected<pid_t, int> start_shell_command(const std::string& command,
                                             std::vector<std::string> own_environment) {
    sigset_t none;
    ::sigemptyset(&none);
    SpawnSettings settings(none);
    posix_spawn_file_actions_addopen(settings.files(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // stdout may carry the event stream.
    posix_spawn_file_actions_adddup2(settings.files(), STDERR_FILENO, STDOUT_FILENO);

    std::string shell = "sh";
    std::string flag = "-c";
    std::string text = command;
    char* arguments[] = {shell.data(), flag.data(), text.data(), nullptr};
    std::vector<char*> environment = environment_of(own_environment);
    const auto child = spawn_child("/bin/sh", settings.files(), settings.attributes(), arguments,
                                   environment.data());
    // posix_spawn() can't do it before. It has not been waited for, so the number is still its own.
    if (child) set_descriptor_limit(*child, descriptor_limit_before());
    return child;
}

}  // namespace bullring
