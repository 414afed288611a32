#include "src/options/options.hpp"

#include <optional>
#include <utility>

#include "src/options/drill_options.hpp"
#include "src/options/environment.hpp"
#include "src/options/interface_address.hpp"
#include "src/options/request.hpp"
#include "src/options/sources.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

/// What one subcommand is made of.
struct Given {
    CommandLine& line;
    const Environment& environment;
    Reader& read;
    Report& report;
};

NodeOptions node_options(const Given& given) {
    return checked(member_request(given.read, given.report), given.environment, {}, given.report);
}

Command checked_command(const Given& given, const char* subcommand) {
    const Command& command = given.line.command;
    if (command.empty() || command.front().empty())
        given.report.add(std::string("no command; expected bullring ") + subcommand +
                         " … -- COMMAND [ARG…]");
    return command;
}

/// A node whose work ends behind its process, so that its end releases nothing.
NodeOptions supervised_node(const Given& given, const MemberRequest& request,
                            const EndOfWork& end_of_work, const char* subcommand,
                            const char* work) {
    NodeOptions node = checked(request, given.environment, end_of_work, given.report);
    node.config.tie = false;
    if (request.fast_release.value == protocol::FastRelease::fin) {
        node.start_notes.push_back(
            std::string("fast-release is off for this node's own leadership, because it ") + work);
    }
    if (node.config.quorum == protocol::QuorumMode::none) {
        given.report.say("quorum",
                         std::string(subcommand) +
                             " can't be used with none, where two nodes may lead at once; use "
                             "--quorum majority");
    }
    return node;
}

RunOptions run_options(const Given& given) {
    constexpr WholeNumber restarts{0, 1'000'000, "a whole number, 0 … 1000000"};
    RunOptions options;
    auto& [line, environment, read, report] = given;
    const MemberRequest request = member_request(read, report);
    Asked<protocol::Duration> kill_after;
    read.positive("kill-after", kill_after);
    options.kill_after = kill_after.value_or(options.kill_after);
    read("on-exit", options.on_exit);
    read("restart-delay", options.restart_delay);
    read.whole("max-restarts", restarts, options.max_restarts);
    read.positive("stall-after", options.stall_after);

    options.node = supervised_node(given, request, {kill_after, {}}, "run", "runs a command");
    if (options.restart_delay > restart_delay_max) {
        report.refuse("restart-delay", to_text(options.restart_delay),
                      "is too long; expected at most 1m");
    }
    options.command = checked_command(given, "run");
    return options;
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

RunOptions address_options(const Given& given) {
    RunOptions options;
    auto& [line, environment, read, report] = given;
    const MemberRequest request = member_request(read, report);
    options.kill_after = holder_ends_in;
    // What holds the address does not end by itself, so there is nothing to wait for.
    options.restart_delay = holder_restart_delay;
    options.longest_restart_delay = holder_restart_delay_max;
    options.restart_delay_if_killed = holder_restart_delay;
    const EndOfWork taking_off{
        Asked<protocol::Duration>{true, holder_ends_in}, {}, "the time to take the address off"};
    options.node = supervised_node(given, request, taking_off, "address", "holds an address");

    report.require("dev", read.given("dev"), "the name of a network interface, like eth0");
    read("dev", options.device);
    if (read.text("dev") && !is_device_name(options.device))
        report.refuse("dev", options.device,
                      "is not the name of a network interface; expected one like eth0");
    report.require("address", read.given("address"), "ADDRESS/PREFIX, like 10.0.0.9/24");
    const auto text = read.word("address");
    if (!text) return options;
    const ParsedAddresses parsed = parse_addresses(*text);
    for (const std::string& problem : parsed.problems) report.say("address", problem);
    if (parsed.addresses.empty() && parsed.problems.empty())
        report.refuse("address", *text, "names no address; expected ADDRESS/PREFIX");
    for (const InterfaceAddress& address : parsed.addresses) {
        check_no_members_address(address, options.node.peers, report);
        options.command.push_back(to_text(address));
    }
    return options;
}

DoctorOptions doctor_options(const Given& given) {
    DoctorOptions options;
    options.node = node_options(given);
    given.read("strict", options.strict);
    given.read("json", options.json);
    return options;
}

/// Whether nothing is to be started. It is asked for by hand: in a file it would mean that no node
/// starts any more.
bool only_checks(const Given& given) {
    bool check = false;
    given.read("check", check);
    if (given.read.given("check") && !given.read.typed("check"))
        given.report.say("check", "it can only be given on the command line");
    return check;
}

ParsedOptions started_or_checked(const Given& given, NodeOptions options) {
    if (!only_checks(given)) return options;
    return DoctorOptions{std::move(options), {}, {}, {}, false, false};
}

ParsedOptions started_or_checked(const Given& given, RunOptions options) {
    if (!only_checks(given)) return options;
    return DoctorOptions{std::move(options.node),
                         std::move(options.command),
                         std::move(options.device),
                         {},
                         false,
                         false};
}

/// One file serves all subcommands: a time by which `lead` waits makes `status` wait, and "off" is
/// no time at all. The command line of `status` has nothing but the switch.
void read_wait_of_status(Reader& read, bool& wait) {
    const std::string text = read.text("wait").value_or("");
    const auto parsed = protocol::parse_duration(trimmed(text));
    if (const auto* time = std::get_if<protocol::Duration>(&parsed))
        wait = time->ns > 0;
    else
        read("wait", wait);
}

void read_wait_of_lead(Reader& read, protocol::Duration& wait) {
    if (in_small_letters(trimmed(read.text("wait").value_or(""))) != "off") read("wait", wait);
}

/// Of the node on this machine that is meant, as `lead` and `resign --local` find it.
std::string data_dir_of_local_node(const Given& given, const std::optional<std::string>& cluster,
                                   const Asked<protocol::NodeId>& id) {
    auto& [line, environment, read, report] = given;
    Asked<std::string> data_dir;
    read("data-dir", data_dir);
    const auto directory = environment.find("STATE_DIRECTORY");
    const bool named =
        data_dir.given || (directory != environment.end() && !directory->second.empty());
    if (named || id.given)
        return checked_data_dir(data_dir, environment, cluster.value_or("bullring"),
                                id.value_or(protocol::nobody), report);
    report.add("which node? expected --data-dir DIR, or --id N (and --cluster NAME)");
    return {};
}

LeadOptions lead_options(const Given& given) {
    LeadOptions options;
    auto& [line, environment, read, report] = given;
    Asked<protocol::NodeId> id;
    Asked<std::string> cluster;
    read("id", id);
    read.cluster(cluster);
    read_wait_of_lead(read, options.wait);
    read.positive("kill-after", options.kill_after);
    options.log = read.log();

    options.data_dir = data_dir_of_local_node(given, cluster.value, id);
    if (id.value) options.id = id.value->value;
    options.cluster = cluster.value;
    options.command = checked_command(given, "lead");
    return options;
}

template <class Options>
Options observer_options(const Given& given) {
    Options options;
    given.report.require("peers", given.read.given("peers"), "ID=HOST:PORT,… or @FILE");
    given.read("peers", options.peers);
    given.read.cluster(options.cluster);
    options.security = checked_security(security_request(given.read), options.peers,
                                        options.cluster, protocol::nobody, given.report);
    options.log = given.read.log();
    return options;
}

StatusOptions status_options(const Given& given) {
    auto options = observer_options<StatusOptions>(given);
    given.read("json", options.json);
    read_wait_of_status(given.read, options.wait);
    given.read.positive("timeout", options.timeout);
    return options;
}

WatchOptions watch_options(const Given& given) {
    auto options = observer_options<WatchOptions>(given);
    given.read("text", options.text);
    return options;
}

ResignOptions local_resign_options(const Given& given) {
    ResignOptions options;
    Asked<protocol::NodeId> id;
    Asked<std::string> cluster;
    given.read("id", id);
    given.read.cluster(cluster);
    options.data_dir = data_dir_of_local_node(given, cluster.value, id);
    options.cluster = cluster.value_or("");
    options.log = given.read.log();
    return options;
}

ResignOptions resign_options(const Given& given) {
    bool local = false;
    given.read("local", local);
    auto options = local ? local_resign_options(given) : observer_options<ResignOptions>(given);
    for (const char* flag : {"id", "data-dir"})
        if (!local && given.read.typed(flag))
            given.report.say(flag, "it needs " + given.report.flag("local"));
    std::vector<std::string_view> of_others = security_flags();
    of_others.emplace_back("peers");
    for (const std::string_view flag : of_others)
        if (local && given.read.typed(flag))
            given.report.say(flag, "it means nothing with " + given.report.flag("local") +
                                       ", which asks the node on this machine only");
    given.read.positive("timeout", options.timeout);
    given.read("to", options.to);
    if (options.to && !options.peers.empty() && !options.peers.contains(options.to)) {
        given.report.refuse("to", std::to_string(options.to.value),
                            "is not in the peer list, which has " + ids_text(options.peers));
    }
    return options;
}

DrillOptions drill_options(const Given& given) {
    constexpr WholeNumber rounds{1, 100'000, "a whole number, 1 … 100000"};
    auto options = observer_options<DrillOptions>(given);
    auto& [line, environment, read, report] = given;
    Asked<protocol::Duration> time;
    read.positive("for", time);
    options.time = time.value;
    read.whole("rounds", rounds, options.rounds);
    if (time.given && read.given("rounds")) report.say("for", "it excludes --rounds; give one");
    if (!options.time && !options.rounds) options.rounds = drill_rounds;
    read("every", options.every);
    read("json", options.json);
    options.faults.assign(all_faults.begin(), all_faults.end());
    if (const auto text = read.word("faults")) {
        auto faults = parse_faults(*text);
        if (faults)
            options.faults = std::move(*faults);
        else
            report.say("faults", faults.error());
    }
    if (!options.peers.empty() && options.peers.size() < drill_members_min)
        report.say("peers", "it has " + ids_text(options.peers) +
                                " only; expected at least 3 members, because fewer have no "
                                "majority without their leader");
    return options;
}

AuditOptions audit_options(const Given& given) {
    AuditOptions options;
    options.files = given.line.operands;
    if (options.files.empty())
        given.report.add("no event stream; expected bullring audit EVENTS [EVENTS…]");
    for (const std::string& file : options.files)
        if (file.empty()) given.report.add("\"\" names no file; expected an event stream");
    given.read("clock-error", options.clock_error);
    given.read("json", options.json);
    given.read("strict", options.strict);
    options.log = given.read.log();
    return options;
}

ParsedOptions options_of(Subcommand subcommand, const Given& given) {
    switch (subcommand) {
        case Subcommand::node: return started_or_checked(given, node_options(given));
        case Subcommand::run: return started_or_checked(given, run_options(given));
        case Subcommand::address: return started_or_checked(given, address_options(given));
        case Subcommand::doctor: return doctor_options(given);
        case Subcommand::lead: return lead_options(given);
        case Subcommand::status: return status_options(given);
        case Subcommand::watch: return watch_options(given);
        case Subcommand::resign: return resign_options(given);
        case Subcommand::drill: return drill_options(given);
        case Subcommand::audit: return audit_options(given);
        case Subcommand::key: return key_options(given.line.operands, given.read, given.report);
        case Subcommand::cert: return cert_options(given.line.operands, given.read, given.report);
    }
    return UsageProblems{};
}

/// The operands of `address` are what --address would have.
void take_addresses(CommandLine& line, Problems& problems) {
    if (line.subcommand != Subcommand::address || line.operands.empty()) return;
    std::string text;
    for (const std::string& operand : line.operands) text += (text.empty() ? "" : ",") + operand;
    const auto [value, is_new] = line.values.try_emplace("address", RawValue{text, "address"});
    if (!is_new)
        problems.push_back("unexpected argument " + in_quotes(line.operands.front()) + "; " +
                           value->second.origin + " is given, too");
}

}  // namespace

void fold_negations(RawValues& values, Problems& problems) {
    for (const Flag& flag : flag_table()) {
        if (flag.negates == nullptr) continue;
        auto negation = values.extract(flag.name);
        if (negation.empty()) continue;
        RawValue value = std::move(negation.mapped());
        // What is no boolean stays as it is, for the reader of the value to complain about.
        if (const std::optional<bool> on = boolean_named(value.text)) {
            value.text = *on ? "off" : "on";
        }
        const auto [positive, is_new] = values.emplace(flag.negates, value);
        if (!is_new && boolean_named(positive->second.text) != boolean_named(value.text)) {
            report(problems, value.origin,
                   "it excludes " + positive->second.origin + "; give one of them");
        }
    }
}

const char* name(OnExit on_exit) {
    switch (on_exit) {
        case OnExit::stay: return "stay";
        case OnExit::vote: return "vote";
        case OnExit::leave: return "leave";
    }
    return protocol::no_name;
}

ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment) {
    Problems problems;
    CommandLine line = read_command_line(arguments, problems);
    if (line.information) return Information{std::move(*line.information)};
    if (!line.subcommand) return UsageProblems{std::move(problems), {}, {}};

    // What a higher source gives is not looked for in the lower ones.
    RawValues values;
    const auto add = [&](RawValues source) {
        fold_negations(source, problems);
        values.merge(source);
    };
    take_addresses(line, problems);
    add(std::move(line.values));
    add(read_environment(*line.subcommand, environment));
    if (const auto config = values.find("config"); config != values.end())
        add(read_config_file(*line.subcommand, config->second, problems));

    Report report(values, problems);
    Reader read(values, report);
    ParsedOptions options = options_of(*line.subcommand, {line, environment, read, report});
    if (auto* doctor = std::get_if<DoctorOptions>(&options))
        doctor->wrong_variables = misspelt_variables(*line.subcommand, environment);
    if (problems.empty()) return options;
    return UsageProblems{std::move(problems), std::move(line.command),
                         read.text("health-cmd").value_or("")};
}

}  // namespace bullring
