#include "src/task/shell_command.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/os/child_variables.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/task/spawn_settings.hpp"

namespace bullring {

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> all;
    all.reserve(words.size() + 1);
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

}  // namespace

tl::expected<pid_t, int> start_shell_command(const std::string& command,
                                             std::vector<std::string> entries) {
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
    std::vector<std::string> environment = environment_with(std::move(entries));
    const auto child = spawn_child("/bin/sh", settings.files(), settings.attributes(), arguments,
                                   pointers_to(environment).data());
    // posix_spawn() can't do it before. It has not been waited for, so the number is still its own.
    if (child) set_descriptor_limit(*child, descriptor_limit_before());
    return child;
}

bool shell_finds(const std::string& command) {
    const std::string word = command.substr(0, command.find_first_of(" \t\n"));
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("_./+-").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (!plain) return true;  // none, or shell syntax: only the shell can say
    const auto child = start_shell_command("command -v -- " + word + " >/dev/null", {});
    return !child || wait_for_child(*child) == 0;
}

}  // namespace bullring
