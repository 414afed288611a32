// `bullring doctor`, and --check of the members' commands: what an operator wants to know before
// the first start.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>

#include "src/base/log/logging.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/cli/commands/about_file.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/cli/doctor/findings.hpp"
#include "src/cli/doctor/surroundings.hpp"
#include "src/cli/options/environment.hpp"

namespace bullring {

namespace {

/// For names, for connections and for answers, each.
constexpr protocol::Duration patience = protocol::seconds(2);

doctor::Findings examine(const DoctorOptions& options, bool& lookups_pending) {
    NodeOptions node = options.node;
    doctor::Findings findings;
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
    if (node.config.quorum == protocol::QuorumMode::majority)
        look("data directory", [&] { directory = doctor::check_directory(node, findings); });
    doctor::check_list(directory.known.list, node, findings);
    for (const std::string& note : node.start_notes) findings.note("options", note);
    for (const LooseFile& file : node.loose_files)
        findings.warn(file.subject, file.what, file.remedy);
    look("limits", [&] { doctor::check_limits(node, findings); });
    look("members", [&] {
        const doctor::Surroundings around =
            doctor::look_around(node, directory.known.list, patience);
        lookups_pending = around.lookups_pending;
        const bool runs = directory.runs || around.runs(node);
        doctor::check_addresses(node, around, findings);
        doctor::check_ports(node, around, runs, findings);
        if (node.join.empty())
            doctor::check_members(node, directory.known, around, runs, findings);
        else
            doctor::check_joining(node, directory.known, around, runs, findings);
    });
    look("work", [&] { doctor::check_work(options, findings); });
    look("certificate", [&] { doctor::check_certificate(node, findings); });
    look("clock", [&] { doctor::check_clock(findings); });
    look("realtime", [&] { doctor::check_realtime(node, findings); });
    return findings;
}

/// Prints them. The exit status.
int told(const doctor::Findings& findings, bool strict, bool json) {
    const bool wrong = findings.count(doctor::Level::failure) > 0 ||
                       (strict && findings.count(doctor::Level::warning) > 0);
    const bool printed = print_answer(json ? to_json(findings) : to_text(findings));
    return printed && !wrong ? 0 : not_done;
}

int run_doctor(const DoctorOptions& options) {
    bool lookups_pending = false;
    const int status = told(examine(options, lookups_pending), options.strict, options.json);
    if (lookups_pending) {
        std::fflush(stdout);
        std::_Exit(status);
    }
    return status;
}

int check_lead(const LeadOptions& options) {
    doctor::Findings findings;
    doctor::check_lead({options.data_dir, options.id, options.cluster, options.command}, patience,
                       findings);
    return told(findings, false, false);
}

}  // namespace

Work doctor_command(const Given& given) {
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
