// The border of the program: nothing leaves it but an exit status and, if that is not 0, a line on
// stderr that says why.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/start_wait.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/cli/commands/check_programs.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/commands/inherited.hpp"
#include "src/cli/doctor/doctor_options.hpp"
#include "src/cli/options/completion.hpp"
#include "src/cli/options/environment.hpp"
#include "src/cli/options/options.hpp"
#include "src/manual/help_command.hpp"
#include "src/task/supervisor/guard.hpp"

namespace {

using namespace bullring;

constexpr int failed = 1;

Environment environment_of_process() {
    Environment environment;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos) {
            environment.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return environment;
}

int complain(const UsageProblems& usage) {
    for (const std::string& problem : usage.problems) print_error(problem);
    complain_of_programs(usage.command, usage.health_cmd);
    return wrong_usage;
}

/// Waits, before a node is started, for what time or another program may mend.
ParsedOptions options_in_time(const std::vector<std::string>& arguments,
                              const Environment& environment) {
    using Clock = std::chrono::steady_clock;
    // A file that has just come may be one that is being written, or gets its mode after that.
    constexpr std::chrono::seconds settled{10};
    ParsedOptions options = parse_options(arguments, environment);
    const auto* const first = std::get_if<UsageProblems>(&options);
    if (first == nullptr || !first->pass ||
        !missing_programs(first->command, first->health_cmd).empty())
        return options;
    std::optional<Clock::time_point> wrong_since;
    const auto look = [&]() -> Obstacles {
        options = parse_options(arguments, environment);
        const auto* const usage = std::get_if<UsageProblems>(&options);
        if (usage == nullptr) return {};
        if (usage->pass)
            wrong_since.reset();
        else if (!wrong_since)
            wrong_since = Clock::now();
        else if (Clock::now() - *wrong_since > settled)
            return {};
        return usage->problems;
    };
    wait_to_start(look, [](const std::string& text) { print_error(text); });
    return options;
}

/// Started by `run` and `lead`, never by a user.
int guard(const std::vector<std::string>& arguments) {
    const auto settings = guard_settings(arguments);
    if (settings) return run_guard(*settings);
    print_error(settings.error());
    return wrong_usage;
}

/// An exception that no border has caught, in whatever thread.
[[noreturn]] void give_up() {
    std::string text = "an unhandled error";
    if (const std::exception_ptr error = std::current_exception()) {
        try {
            std::rethrow_exception(error);
        } catch (const std::exception& known) {
            text = failure_text(known);
        } catch (...) {
        }
    }
    print_error("stopped by " + text);
    std::_Exit(failed);
}

void warn_of_variables(const std::string& first_word, const Environment& environment) {
    if (find_subcommand(first_word) == nullptr) return;
    for (const std::string& sentence : misspelt_variables(first_word, environment))
        print_error(sentence);
}

}  // namespace

int main(int argc, char** argv) {
    std::set_terminate(give_up);
    try {
        // Before anything else is opened, and takes their numbers.
        open_missing_streams();
        const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
        if (!arguments.empty() && arguments.front() == guard_word) return guard(arguments);
        unblock_signals();
        if (!arguments.empty() && arguments.front() == help_word)
            return run_help({arguments.begin() + 1, arguments.end()});
        if (!arguments.empty() && arguments.front() == completion_word)
            return run_completion({arguments.begin() + 1, arguments.end()});
        const Environment environment = environment_of_process();
        const ParsedOptions options = options_in_time(arguments, environment);
        const Work* const work = std::get_if<Work>(&options);
        const bool doctor_warns = work != nullptr && work->options<DoctorOptions>() != nullptr;
        if (!arguments.empty() && !doctor_warns) warn_of_variables(arguments.front(), environment);
        if (work != nullptr) return work->run();
        if (const auto* information = std::get_if<Information>(&options))
            return print_answer(information->text) ? 0 : failed;
        return complain(std::get<UsageProblems>(options));
    } catch (const std::exception& error) {
        print_error(failure_text(error));
    } catch (...) {
        print_error("an unknown error");
    }
    return failed;
}
