// `bullring run` and `bullring address`: a member that runs a command, or holds addresses, while it
// leads.
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/values/timing.hpp"
#include "src/address/link_watch.hpp"
#include "src/address/preparation.hpp"
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
    std::string replaced = fmt::format("a leader whose host is lost is replaced after {}",
                                       to_text(rounded_up_to_ms(timing.promise(timing.lease))));
    if (!options.device.empty()) return replaced;
    return fmt::format("the command gets {} from SIGTERM to SIGKILL; {}",
                       to_text(options.kill_after), replaced);
}

/// Whether the system refuses what the command line names; it has been said.
bool complain_of_work(const RunOptions& options, const HeldAddresses& held) {
    if (options.device.empty())
        return complain_of_programs(options.command, options.node.health.command);
    const bool wrong = complain_of_programs({}, options.node.health.command);
    const auto checked = check_device(held);
    if (!checked) print_error(checked.error());
    return wrong || !checked;
}

}  // namespace

int run_run(const RunOptions& options) {
    const bool ignores_hangup = is_ignored(SIGHUP);
    const HeldAddresses held(options.device, options.command);
    if (complain_of_work(options, held)) return wrong_usage;
    SharedLeasePage* const page = lasting_lease_page();
    if (page == nullptr) return 1;
    // The last event is the guard's, which sees the end of the command.
    Member member(options.node, (*page)->pulse(), keeper_settings(options.node, "--hang-after"),
                  true);
    // The guard of the process before this one may still have to end its command.
    if (const auto opened = member.open(options.kill_after + protocol::seconds(1)); !opened) {
        print_error(opened.error());
        return 1;
    }
    if (const auto cleared = clear_leftovers(held); !cleared) {
        print_error(cleared.error());
        return 1;
    }
    log(LogLevel::info, figures(options));
    const std::vector<int> locks = member.directory_locks();
    const Sender self{options.node.config.self, member.incarnation()};
    const MakeHost make_supervisor = [&](asio::io_context& io, NodeLink& node) {
        auto supervisor = std::make_unique<Supervisor>(
            io, node, options,
            SupervisorParts{*page, self, locks, member.undertaker(), ignores_hangup});
        if (const auto prepared = supervisor->prepare(); !prepared)
            throw std::runtime_error(prepared.error());
        return supervisor;
    };
    const MakeHost make_hooks = [&](asio::io_context& io, NodeLink& node) {
        return std::make_unique<Hooks>(io, node, options.node.hooks, options.node.config, hook_time,
                                       make_supervisor);
    };
    const MakeHost make_work = options.node.hooks.any() ? make_hooks : make_supervisor;
    const MakeHost make_link_watch = [&](asio::io_context& io, NodeLink& node) {
        return std::make_unique<LinkWatch>(io, node, options.device, make_work);
    };
    return member.run([&](asio::io_context& io, NodeLink& node) {
        return std::make_unique<TerminalStop>(io, node,
                                              options.device.empty() ? make_work : make_link_watch);
    });
}

}  // namespace bullring
