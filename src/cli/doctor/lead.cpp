// `bullring lead`: whether the node on this machine would let its command begin.
#include <cerrno>

#include <fmt/format.h>
#include <sys/socket.h>

#include "src/base/os/local_socket.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/observe/observer_client.hpp"
#include "src/settings/data_files.hpp"
#include "src/task/supervisor/lead_records.hpp"

namespace bullring::doctor {

void check_lead(const LeadSubject& options, protocol::Duration patience, Findings& findings) {
    check_command(options.command, findings);
    const std::string subject = "node in " + options.data_dir;
    ObserverLoop loop;
    const MemberAnswer node =
        run_to_end(loop, ask_locally(loop, options.data_dir, deadline_in(patience)));
    if (!node.answer)
        return findings.fail(subject, "it can't be asked: " + node.problem,
                             "start it, as this user or one whose directory this one may use; or "
                             "give its --data-dir, or --id and --cluster");
    const NodeAnswer& answer = *node.answer;
    const std::string is = fmt::format("it is {} of cluster '{}'", answer.id.value, answer.cluster);
    if (options.id.value_or(answer.id.value) != answer.id.value ||
        options.cluster.value_or(answer.cluster) != answer.cluster)
        return findings.fail(subject, is, "correct --id and --cluster, or --data-dir");
    if (const auto taken = connect_locally(options.data_dir, lead_socket_name, SOCK_SEQPACKET);
        !taken)
        return findings.fail(
            subject, is + ", and takes no commands: " + reason_text(taken.error()),
            answer.quorum == "none" ? "with --quorum none there is no lead" : "its log says why");
    findings.ok(subject, is + ", and says: " + answer.why);
    if (answer.role != "leader")
        findings.note("command", "it would not begin now: that node does not lead");
}

}  // namespace bullring::doctor
