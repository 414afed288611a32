// `bullring doctor`, and --check of the members' commands: what an operator wants to know before
// the first start.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>
#include <variant>

#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/cli/commands/about_file.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/cli/doctor/findings.hpp"
#include "src/cli/doctor/sandbox.hpp"
#include "src/cli/doctor/surroundings.hpp"
#include "src/cli/doctor/unit_file.hpp"
#include "src/cli/doctor/unit_start.hpp"
#include "src/cli/options/environment.hpp"
#include "src/cli/options/options.hpp"
#include "src/security/checked_security.hpp"

namespace bullring {

namespace {

/// For names, for connections and for answers, each.
constexpr protocol::Duration patience = protocol::seconds(2);

void examine(const DoctorOptions& options, doctor::Findings& findings, bool& lookups_pending) {
    NodeOptions node = options.node;
    // A check that fails for want of threads or descriptors is a finding, too.
    const auto look = [&](const char* subject, const std::function<void()>& check) {
        try {
            check();
        } catch (const std::exception& failure) {
            findings.fail(subject, failure_text(failure), "raise that limit, and ask again");
        }
    };
    for (const std::string& variable : options.wrong_variables)
        findings.warn("environment", variable, "rename it or unset it");
    doctor::DirectorySight directory;
    if (options.is_made(node.data_dir))
        findings.ok("data directory " + node.data_dir, made_by_manager);
    else if (node.config.quorum == protocol::QuorumMode::majority)
        look("data directory", [&] { directory = doctor::check_directory(node, findings); });
    doctor::check_list(directory.known.list, node, findings);
    for (const std::string& note : node.start_notes) findings.note("options", note);
    for (const LooseFile& file : node.loose_files)
        findings.warn(file.subject, file.what, file.remedy);
    look("limits", [&] {
        doctor::check_limits(
            node, options.by_manager ? options.by_manager->tasks_max : doctor::limit_of_group(),
            findings);
    });
    look("members", [&] {
        const doctor::Surroundings around =
            doctor::look_around(node, directory.known.list, patience);
        lookups_pending = around.lookups_pending;
        const bool runs = directory.runs || around.runs(node);
        doctor::check_addresses(node, around, findings);
        doctor::check_ports(options, node, around, runs, findings);
        if (node.join.empty())
            doctor::check_members(node, directory.known, around, runs, findings);
        else
            doctor::check_joining(node, directory.known, around, runs, findings);
    });
    look("work", [&] { doctor::check_work(options, findings); });
    look("attach",
         [&] { doctor::check_attach(options, node, directory.runs, patience, findings); });
    look("certificate", [&] { doctor::check_certificate(node, findings); });
    look("clock", [&] { doctor::check_clock(findings); });
    look("realtime", [&] { doctor::check_realtime(node, findings); });
}

/// Prints them. The exit status.
int told(const doctor::Findings& findings, bool strict, bool json) {
    const bool wrong = findings.count(doctor::Level::failure) > 0 ||
                       (strict && findings.count(doctor::Level::warning) > 0);
    const bool printed = print_answer(json ? to_json(findings) : to_text(findings));
    return printed && !wrong ? 0 : not_done;
}

int examined(const DoctorOptions& options, doctor::Findings findings) {
    bool lookups_pending = false;
    examine(options, findings, lookups_pending);
    const int status = told(findings, options.strict, options.json);
    if (lookups_pending) {
        std::fflush(stdout);
        std::_Exit(status);
    }
    return status;
}

int run_doctor(const DoctorOptions& options) { return examined(options, {}); }

/// The subject of --unit.
struct UnitOptions {
    doctor::UnitFile unit;
    bool strict = false;
    bool json = false;
};

/// Becomes what the unit's process would be, and judges what that has been given.
int judge_unit(const UnitOptions& options) {
    doctor::Findings findings;
    auto start = doctor::start_of(options.unit, findings);
    if (!start) return told(findings, options.strict, options.json);
    doctor::enter_sandbox(options.unit, *start, findings);
    doctor::check_command({start->program}, findings);
    start->arguments.insert(start->arguments.begin() + 1, "--check");
    const ParsedOptions parsed = parse_options(start->arguments, start->variables);
    const std::string subject = "settings";
    if (const auto* usage = std::get_if<UsageProblems>(&parsed))
        for (const std::string& problem : usage->problems)
            findings.fail(subject, problem, "correct it, or let this user read it");
    const Work* const work = std::get_if<Work>(&parsed);
    if (work == nullptr) return told(findings, options.strict, options.json);
    DoctorOptions judged = *work->options<DoctorOptions>();
    judged.strict = options.strict;
    judged.json = options.json;
    judged.by_manager = std::move(start->by_manager);
    return examined(judged, std::move(findings));
}

/// All flags come from the unit.
Work unit_work(const Given& given) {
    const Request& request = given.request;
    Report& report = given.report;
    const auto refuse = [&](const std::string& why) {
        report.refuse("unit", request.unit.value, why);
    };
    if (!report.typed("unit")) report.say("unit", "it can only be given on the command line");
    for (const Flag& flag : flag_table())
        if (const std::string_view name = flag.name;
            name != "unit" && name != "strict" && name != "json" && report.typed(name))
            report.say(name, "it means nothing with --unit, whose unit names all flags");
    auto unit = doctor::UnitFile::read(request.unit.value);
    if (!unit)
        refuse(unit.error());
    else if (const auto starts = doctor::subcommand_of(*unit); !starts)
        refuse(starts.error());
    else if (::geteuid() != 0)
        refuse(
            "can be judged by root alone, who can become its user; expected sudo bullring "
            "doctor --unit …");
    if (!unit) unit.emplace();
    return {UnitOptions{std::move(*unit), request.strict.value, request.json.value}, judge_unit};
}

int check_lead(const LeadOptions& options) {
    doctor::Findings findings;
    doctor::check_lead({options.data_dir, options.id, options.cluster, options.command}, patience,
                       findings);
    return told(findings, false, false);
}

}  // namespace

Work doctor_command(const Given& given) {
    if (given.request.unit.given) return unit_work(given);
    return examination(given, checked(given.request, given.environment, {}, given.report));
}

Work examination(LeadOptions options) { return {std::move(options), check_lead}; }

Work examination(const Given& given, NodeOptions node, Command command, std::string device) {
    return {DoctorOptions{std::move(node), std::move(command), std::move(device),
                          misspelt_variables(given.subcommand.name, given.environment),
                          given.request.strict.value, given.request.json.value},
            run_doctor};
}

}  // namespace bullring
