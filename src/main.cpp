// The border of the program: nothing leaves it but an exit status and, if that is not 0, a line on
// stderr that says why.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <unistd.h>

#include "src/commands/check_programs.hpp"
#include "src/commands/commands.hpp"
#include "src/commands/inherited.hpp"
#include "src/manual/help_command.hpp"
#include "src/options/completion.hpp"
#include "src/options/environment.hpp"
#include "src/options/options.hpp"
#include "src/os/failure_text.hpp"
#include "src/os/first_process.hpp"
#include "src/report/logging.hpp"
#include "src/supervisor/guard.hpp"

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

struct Run {
    std::vector<int> missing_streams;

    int operator()(const NodeOptions& options) const {
        discard_writes_to(missing_streams);
        leave_first_process();
        return run_node(options);
    }
    int operator()(const RunOptions& options) const {
        discard_writes_to(missing_streams);
        leave_first_process();
        return run_run(options);
    }
    int operator()(const LeadOptions& options) const {
        discard_writes_to(missing_streams);
        return run_lead(options);
    }
    int operator()(const DoctorOptions& options) const { return run_doctor(options); }
    int operator()(const StatusOptions& options) const { return run_status(options); }
    int operator()(const WatchOptions& options) const { return run_watch(options); }
    int operator()(const ResignOptions& options) const { return run_resign(options); }
    int operator()(const DrillOptions& options) const { return run_drill(options); }
    int operator()(const AuditOptions& options) const { return run_audit(options); }
    int operator()(const KeyOptions& options) const { return run_key(options); }
    int operator()(const CertOptions& options) const { return run_cert(options); }
    int operator()(const Information& information) const {
        return print_answer(information.text) ? 0 : failed;
    }
    int operator()(const UsageProblems& usage) const {
        for (const std::string& problem : usage.problems) print_error(problem);
        complain_of_programs(usage.command, usage.health_cmd);
        return wrong_usage;
    }
};

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
    const std::optional<Subcommand> subcommand = subcommand_named(first_word);
    if (!subcommand) return;
    for (const std::string& sentence : misspelt_variables(*subcommand, environment))
        print_error(sentence);
}

}  // namespace

int main(int argc, char** argv) {
    std::set_terminate(give_up);
    try {
        // Before anything else is opened, and takes their numbers.
        const std::vector<int> missing_streams = open_missing_streams();
        const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
        if (!arguments.empty() && arguments.front() == guard_word) return guard(arguments);
        unblock_signals();
        if (!arguments.empty() && arguments.front() == help_word)
            return run_help({arguments.begin() + 1, arguments.end()});
        if (!arguments.empty() && arguments.front() == completion_word)
            return run_completion({arguments.begin() + 1, arguments.end()});
        const Environment environment = environment_of_process();
        const ParsedOptions options = parse_options(arguments, environment);
        const bool checks = std::holds_alternative<DoctorOptions>(options);
        if (!arguments.empty() && !checks) warn_of_variables(arguments.front(), environment);
        return std::visit(Run{missing_streams}, options);
    } catch (const std::exception& error) {
        print_error(failure_text(error));
    } catch (...) {
        print_error("an unknown error");
    }
    return failed;
}
