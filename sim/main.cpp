// bullring-sim: the border of the simulator's program. What leaves it here is an exit status: 0
// good, 1 something was found or failed, 2 wrong usage.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "protocol/values/assert.hpp"
#include "sim/commands/commands.hpp"

namespace {

constexpr int failed = 1;
constexpr int wrong_usage = 2;

void tell_assertion(const char* condition, const char* file, int line) {
    fmt::print(stderr, "bullring-sim: {}:{}: this should hold: {}\n", file, line, condition);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace bullring;
    protocol::set_assert_handler(tell_assertion);
    CLI::App app(
        "Runs the state machines of Bullring in a simulated world: the same seed gives the "
        "same history.",
        "bullring-sim");
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all", "the help of all subcommands");
    int exit_status = 0;
    sim::add_run_command(app, exit_status);
    sim::add_sweep_command(app, exit_status);
    sim::add_report_command(app, exit_status);
    sim::add_scenario_command(app, exit_status);
    sim::add_explore_command(app, exit_status);
    sim::add_messages_command(app, exit_status);
    sim::add_diagram_command(app, exit_status);
    try {
        app.parse(argc, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            throw CLI::FileError("stdout can't be written");
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::FileError& error) {
        fmt::print(stderr, "bullring-sim: {}\n", error.what());
        return failed;
    } catch (const CLI::ParseError& error) {
        fmt::print(stderr, "bullring-sim: {}\n", error.what());
        return wrong_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bullring-sim: {}\n", error.what());
        return failed;
    }
    return exit_status;
}
