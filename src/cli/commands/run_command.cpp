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
#include "src/base/log/logging.hpp"
#include "src/base/os/first_process.hpp"
#include "src/base/text/interface_address.hpp"
#include "src/cli/commands/check_programs.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/commands/inherited.hpp"
#include "src/cli/commands/member.hpp"
#include "src/security/checked_security.hpp"
#include "src/task/address/link_watch.hpp"
#include "src/task/address/preparation.hpp"
#include "src/task/hooks.hpp"
#include "src/task/supervisor/supervisor.hpp"
#include "src/task/terminal_stop.hpp"
#include "src/watch/keeper_settings.hpp"

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

int run_run(const RunOptions& options) {
    discard_writes_to_missing_streams();
    leave_first_process();
    const bool ignores_hangup = is_ignored(SIGHUP);
    const HeldAddresses held(options.device, options.command);
    if (complain_of_programs(options.device.empty() ? options.command : Command{},
                             options.node.health.command))
        return wrong_usage;
    wait_for_device(held);
    SharedLeasePage* const page = lasting_lease_page();
    if (page == nullptr) return 1;
    // The last event is the guard's, which sees the end of the command.
    Member member(options.node, (*page)->pulse(), keeper_settings(options.node, "--hang-after"),
                  true);
    // The guard of the process before this one may still have to end its command.
    if (const auto opened = member.open(options.kill_after + protocol::seconds(1)); !opened) {
        print_error(opened.error().what);
        return opened.error().wrong_setting ? wrong_usage : 1;
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

/// A node whose work ends behind its process, so that its end releases nothing.
NodeOptions supervised_node(const Given& given, const EndOfWork& end_of_work, const char* work) {
    NodeOptions node = checked(given.request, given.environment, end_of_work, given.report);
    node.mode = given.subcommand.name;
    node.config.tie = false;
    if (given.request.fast_release.asked() == protocol::FastRelease::fin) {
        node.start_notes.push_back(
            std::string("fast-release is off for this node's own leadership, because it ") + work);
    }
    if (node.config.quorum == protocol::QuorumMode::none) {
        given.report.say("quorum",
                         std::string(given.subcommand.name) +
                             " can't be used with none, where two nodes may lead at once; use "
                             "--quorum majority");
    }
    return node;
}

/// The address goes from node to node, while a member's own has to stay.
void check_no_members_address(const InterfaceAddress& address, const PeerList& peers,
                              Report& report) {
    for (const auto& [id, endpoint] : peers)
        if (is_host(address, endpoint.host))
            report.refuse("address", to_text(address),
                          "is the address by which member " + std::to_string(id.value) +
                              " is reached; expected one that no member has for itself");
}

Command checked_addresses(const std::string& text, const PeerList& peers, Report& report) {
    const ParsedAddresses parsed = parse_addresses(text);
    for (const std::string& problem : parsed.problems) report.say("address", problem);
    if (parsed.addresses.empty() && parsed.problems.empty())
        report.refuse("address", text, "names no address; expected ADDRESS/PREFIX");
    Command addresses;
    for (const InterfaceAddress& address : parsed.addresses) {
        check_no_members_address(address, peers, report);
        addresses.push_back(to_text(address));
    }
    return addresses;
}

Work started_or_checked(const Given& given, RunOptions options) {
    if (!only_checks(given)) return {std::move(options), run_run};
    return examination(given, std::move(options.node), std::move(options.command),
                       std::move(options.device));
}

}  // namespace

Work run_command(const Given& given) {
    const Request& request = given.request;
    RunOptions options;
    options.node = supervised_node(given, {request.kill_after, {}}, "runs a command");
    options.command = command_of(given);
    options.kill_after = request.kill_after.value;
    options.on_exit = request.on_exit.value;
    options.restart_delay = request.restart_delay.value;
    options.max_restarts = request.max_restarts.asked();
    options.stall_after = request.stall_after.value;
    options.pass_hup = request.pass_hup.value;
    return started_or_checked(given, std::move(options));
}

Work address_command(const Given& given) {
    const auto& [subcommand, request, operands, command, environment, report] = given;
    RunOptions options;
    options.kill_after = holder_ends_in;
    // The holder of the address does not end by itself, so there is nothing to wait for.
    options.restart_delay = holder_restart_delay;
    options.longest_restart_delay = holder_restart_delay_max;
    options.restart_delay_if_killed = holder_restart_delay;
    const EndOfWork taking_off{
        Asked<protocol::Duration>{holder_ends_in, true}, {}, "the time to take the address off"};
    options.node = supervised_node(given, taking_off, "holds an address");

    report.require("dev", request.dev.given, "the name of a network interface, like eth0");
    options.device = request.dev.value;
    if (request.dev.asked() && !is_device_name(options.device))
        report.refuse("dev", options.device,
                      "is not the name of a network interface; expected one like eth0");
    report.require("address", request.address.given, "ADDRESS/PREFIX, like 10.0.0.9/24");
    if (const auto text = request.address.asked())
        options.command = checked_addresses(*text, request.peers.value, report);
    return started_or_checked(given, std::move(options));
}

}  // namespace bullring
