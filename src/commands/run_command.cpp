// `bullring run`: a member that runs a command while it leads.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/values/timing.hpp"
#include "src/commands/check_programs.hpp"
#include "src/commands/commands.hpp"
#include "src/commands/inherited.hpp"
#include "src/commands/member.hpp"
#include "src/report/logging.hpp"
#include "src/runtime/hooks.hpp"
#include "src/runtime/keeper_settings.hpp"
#include "src/runtime/terminal_stop.hpp"
#include "src/supervisor/supervisor.hpp"

namespace bullring {

namespace {

protocol::Duration rounded_up_to_ms(protocol::Duration duration) {
    return protocol::milliseconds((duration.ns + 999'999) / 1'000'000);
}

std::string figures(const RunOptions& options) {
    const protocol::Timing& timing = options.node.config.timing;
    return fmt::format(
        "the command gets {} from SIGTERM to SIGKILL; a leader whose host is lost is replaced "
        "after {}",
        to_text(options.kill_after), to_text(rounded_up_to_ms(timing.promise(timing.lease))));
}

}  // namespace

int run_run(const RunOptions& options) {
    const bool ignores_hangup = is_ignored(SIGHUP);
    if (complain_of_programs(options.command, options.node.health.command)) return wrong_usage;
    auto created = SharedLeasePage::create();
    if (!created) {
        print_error(fmt::format("cannot share memory with the guard of the command: {}",
                                std::generic_category().message(created.error())));
        return 1;
    }
    static SharedLeasePage* const page = new SharedLeasePage(std::move(*created));
    // The last event is the guard's, which sees the end of the command.
    Member member(options.node, (*page)->pulse(), keeper_settings(options.node, "--hang-after"));
    // The guard of the process before this one may still have to end its command.
    if (const auto opened = member.open(options.kill_after + protocol::seconds(1)); !opened) {
        print_error(opened.error());
        return 1;
    }
    log(LogLevel::info, figures(options));
    const int lock = member.directory_lock();
    const Sender self{options.node.config.self, member.incarnation()};
    const MakeHost make_supervisor = [&](asio::io_context& io, NodeLink& node) {
        auto supervisor = std::make_unique<Supervisor>(
            io, node, options, SupervisorParts{*page, self, lock, ignores_hangup});
        if (const auto prepared = supervisor->prepare(); !prepared)
            throw std::runtime_error(prepared.error());
        return supervisor;
    };
    const MakeHost make_hooks = [&](asio::io_context& io, NodeLink& node) {
        return std::make_unique<Hooks>(io, node, options.node.hooks, options.node.config, hook_time,
                                       make_supervisor);
    };
    return member.run([&](asio::io_context& io, NodeLink& node) {
        return std::make_unique<TerminalStop>(
            io, node, options.node.hooks.any() ? make_hooks : make_supervisor);
    });
}

}  // namespace bullring
