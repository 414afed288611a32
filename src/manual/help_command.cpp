#include "src/manual/help_command.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/text/nearest.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/options/completion.hpp"
#include "src/manual/pages.hpp"

namespace bullring {

namespace {

constexpr int failed = 1;

/// "run" of bullring-run, "toml" of bullring.toml: what a user has to write.
std::string_view topic_of(const ManualPage& page) {
    constexpr std::string_view program = "bullring";
    const std::string_view name = page.name;
    return name.starts_with(program) && name != program ? name.substr(program.size() + 1) : name;
}

const ManualPage* find_page(std::string_view topic) {
    const auto pages = manual_pages();
    const auto found = std::find_if(pages.begin(), pages.end(), [&](const ManualPage& page) {
        return topic == page.name || topic == topic_of(page);
    });
    return found == pages.end() ? nullptr : &*found;
}

/// Of the line "bullring-run - run a command …" under NAME.
std::string summary_of(const ManualPage& page) {
    const std::string mark = "\n" + std::string(page.name) + " - ";
    const std::size_t begin = page.text.find(mark);
    if (begin == std::string_view::npos) return {};
    const std::string_view rest = page.text.substr(begin + mark.size());
    return std::string(rest.substr(0, rest.find('\n')));
}

std::string list_of_topics() {
    constexpr std::size_t column = 18;
    std::string text =
        "Usage: bullring help [TOPIC]\n\nShows a page of the manual: with man(1), if stdout is a "
        "terminal and the man pages are installed.\n\n";
    for (const ManualPage& page : manual_pages()) {
        const std::string topic(topic_of(page));
        text += "  " + topic + std::string(column - std::min(column, topic.size()), ' ') +
                summary_of(page) + "\n";
    }
    return text;
}

std::vector<std::string_view> topics() {
    std::vector<std::string_view> names;
    for (const ManualPage& page : manual_pages()) names.emplace_back(topic_of(page));
    return names;
}

/// As `cmake --install` puts them beside the program, or as the build leaves them there.
std::filesystem::path man_page(const ManualPage& page) {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string file =
        std::string("man") + page.section + "/" + std::string(page.name) + "." + page.section;
    for (const char* directory : {"../share/man", "share/man"}) {
        for (const char* suffix : {"", ".gz"}) {
            auto path = program.parent_path() / directory / (file + suffix);
            if (std::filesystem::exists(path, error)) return path;
        }
    }
    return {};
}

/// Returns only if there is no man(1) or no page for it.
void exec_man(const ManualPage& page) {
    const std::string path = man_page(page).string();
    if (!path.empty()) ::execlp("man", "man", "-l", path.c_str(), nullptr);
}

int print(const std::string& text) { return print_answer(text) ? 0 : failed; }

int refuse(const std::string& problem) {
    print_error(problem);
    return wrong_usage;
}

std::vector<std::string> help_topics() {
    std::vector<std::string> topics;
    for (const ManualPage& page : manual_pages()) topics.emplace_back(topic_of(page));
    return topics;
}

}  // namespace

int run_completion(const std::vector<std::string>& arguments) {
    if (arguments.size() == 1) {
        if (const std::string script = completion_script(arguments.front(), help_topics());
            !script.empty())
            return print(script);
    }
    std::string given;
    for (const std::string& argument : arguments) given += (given.empty() ? "" : " ") + argument;
    return refuse("completion for " + in_quotes(given) + "; expected bash or zsh");
}

int run_help(const std::vector<std::string>& arguments) {
    if (arguments.size() > 1)
        return refuse("unexpected argument " + in_quotes(arguments[1]) + "; help takes one topic");
    if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h")
        return print(list_of_topics());
    const ManualPage* page = find_page(arguments.front());
    if (page == nullptr) {
        return refuse(
            fmt::format("unknown topic {};{} expected one of {}", in_quotes(arguments.front()),
                        did_you_mean(arguments.front(), topics()), fmt::join(topics(), ", ")));
    }
    if (::isatty(STDOUT_FILENO) != 0) exec_man(*page);
    return print(std::string(page->text));
}

}  // namespace bullring
