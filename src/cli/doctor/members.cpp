// The other members: whether they are reached, and belong to this one.
#include <algorithm>
#include <cerrno>
#include <system_error>

#include <asio/ip/address.hpp>
#include <bullring/version.hpp>
#include <fmt/format.h>

#include "src/base/os/tcp.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/cli/doctor/interfaces.hpp"

namespace bullring::doctor {

namespace {

void tell_unreached(const std::string& subject, const Endpoint& endpoint, int error,
                    Findings& findings) {
    if (error == ECONNREFUSED)
        findings.note(subject, "its machine answers, and no node listens there yet");
    else if (error == ETIMEDOUT)
        findings.warn(subject, "nothing came back",
                      fmt::format("its machine is down, or a firewall drops what it should let "
                                  "through: allow TCP port {} from all members, and reject the "
                                  "rest instead of dropping it",
                                  endpoint.port));
    else
        findings.warn(subject, "it can't be reached: " + std::generic_category().message(error),
                      "check the routes and the firewall between the two machines");
}

std::string ids_of(const std::vector<protocol::NodeId>& ids) {
    std::string text;
    for (const protocol::NodeId id : ids)
        text += (text.empty() ? "" : ", ") + std::to_string(id.value);
    return text;
}

/// The reasons why it is no member of this node's cluster, or a bad one.
class Differences {
public:
    Differences(const NodeOptions& options, const MemberAnswer& member, bool runs)
        : options_(options), member_(member), answer_(*member.answer), runs_(runs) {}

    /// Whether there are any.
    bool tell(const Reach& reach, Findings& findings) {
        const std::string subject = subject_of(member_.id, options_.peers.at(member_.id));
        const std::size_t before = findings.all().size();
        flag("algorithm", answer_.algorithm, protocol::name(options_.config.algorithm), subject,
             findings);
        flag("quorum", answer_.quorum, protocol::name(options_.config.quorum), subject, findings);
        const std::vector<protocol::NodeId> ids = options_.config.members.ids();
        if (!answer_.members.empty() && answer_.members != ids)
            findings.fail(subject,
                          fmt::format("its members are {}, and here they are {}",
                                      ids_of(answer_.members), ids_of(ids)),
                          "all members need the same list; they refuse each other otherwise");
        const protocol::NodeId self = options_.config.self;
        const auto& up = answer_.peers_up;
        if (!runs_ && std::find(up.begin(), up.end(), self) != up.end())
            findings.fail(
                subject,
                fmt::format("it is connected with a node {} that is not this one", self.value),
                "end the other process with this --id, or take another ID; the second "
                "one is refused");
        if (answer_.version != version)
            findings.warn(subject,
                          fmt::format("it is version {}, and this is {}", answer_.version, version),
                          "the changelog says which versions work together");
        tell_way(subject, reach, findings);
        return findings.all().size() != before;
    }

private:
    void flag(const char* name, const std::string& there, const std::string& here,
              const std::string& subject, Findings& findings) const {
        if (there == here) return;
        findings.fail(subject, fmt::format("its --{} is {}, and here it is {}", name, there, here),
                      "all members need the same; they refuse each other otherwise");
    }

    void tell_way(const std::string& subject, const Reach& reach, Findings& findings) const {
        asio::error_code unreadable;
        const auto seen = asio::ip::make_address(tcp::host_of(answer_.asked_from), unreadable);
        if (answer_.asked_from.empty() || unreadable) return;
        const bool by_loopback = reach.connected.address().is_loopback();
        if (is_on_this_machine(seen) && (by_loopback || !seen.is_loopback())) return;
        findings.warn(subject,
                      fmt::format("it sees this machine as {}, which is none of its addresses: a "
                                  "proxy or NAT is between the two",
                                  answer_.asked_from),
                      "let members reach each other directly; else a dead leader is replaced only "
                      "when its lease is over");
    }

    const NodeOptions& options_;
    const MemberAnswer& member_;
    const NodeAnswer& answer_;
    bool runs_;
};

void tell_unanswered(const std::string& subject, const MemberAnswer& member, Findings& findings) {
    if (member.problem.starts_with("it says that it is node"))
        findings.fail(subject, "somebody else is there: " + member.problem,
                      "check the list of members");
    else if (member.refused)
        findings.fail(subject, "somebody is there, and refuses: " + member.problem,
                      "compare --cluster and --security with those of the others");
    else
        findings.warn(subject, "it takes connections and does not answer: " + member.problem,
                      "see its log; is it a node, and of this port?");
}

void tell_reached(const NodeOptions& options, const MemberAnswer& member, const Reach& reach,
                  bool runs, Findings& findings) {
    const std::string subject = subject_of(member.id, options.peers.at(member.id));
    if (!member.answer) return tell_unanswered(subject, member, findings);
    if (Differences(options, member, runs).tell(reach, findings)) return;
    const protocol::Duration heartbeat = options.config.timing.heartbeat;
    const std::string time = protocol::to_text(reach.round_trip);
    if (reach.round_trip.ns > heartbeat.ns / 2)
        findings.warn(subject,
                      fmt::format("its round trip is {}, more than half a heartbeat of {}", time,
                                  protocol::to_text(heartbeat)),
                      "take a --profile for longer ways, on all members");
    else
        findings.ok(subject,
                    fmt::format("it answers within {}, and says: {}", time, member.answer->why));
}

}  // namespace

void check_members(const NodeOptions& options, const Surroundings& around, bool runs,
                   Findings& findings) {
    for (const auto& [id, reach] : around.reached) {
        if (id == options.config.self) continue;
        const Endpoint& endpoint = options.peers.at(id);
        const auto answer = around.answers.find(id);
        if (reach.error != 0)
            tell_unreached(subject_of(id, endpoint), endpoint, reach.error, findings);
        else if (answer != around.answers.end())
            tell_reached(options, answer->second, reach, runs, findings);
    }
}

}  // namespace bullring::doctor
