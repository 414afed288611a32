// How actions and messages look in the report of a failed comparison.
#include "tests/support/node_fixture.hpp"

namespace bullring::test {

using namespace protocol;

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }
std::string number(std::int64_t value) { return std::to_string(value); }
std::string time(Instant at) { return number(at.boottime_ns) + "/" + number(at.raw_ns); }
std::string flag(bool set, const char* name) { return set ? std::string(" ") + name : ""; }

std::string walk(const Walk& walk) {
    std::string text = " owner=" + number(walk.owner.value) + " round=" + number(walk.round) +
                       " step=" + std::to_string(walk.step) +
                       " visited=" + number(walk.visited.bits()) + " path=";
    for (const Index i : walk.path) text += std::to_string(i) + ",";
    return text;
}

std::string list(const Membership& members) {
    return (members.tag() ? to_text(*members.tag()) : "untagged") + " " + ids_text(members);
}

struct Fields {
    std::string operator()(const Hello& m) const {
        return " id=" + number(m.id.value) + " session=" + number(m.session.value) +
               " fast_release=" + name(m.fast_release);
    }
    std::string operator()(const HelloAck& m) const {
        return " id=" + number(m.id.value) + " max_seen=" + number(m.max_seen.value) +
               " promised_max=" + to_text(m.promised_max) + flag(m.had_file_at_start, "file") +
               flag(m.recovering, "recovering") +
               " recall=" + number(static_cast<std::uint64_t>(m.recall.answer)) +
               " version=" + std::to_string(m.version);
    }
    std::string operator()(const Refused& m) const {
        return " " + m.field + " mine=" + m.mine + " yours=" + m.yours;
    }
    std::string operator()(const Heartbeat& m) const {
        return " heard=" + number(m.heard.bits()) + flag(m.quorum_connected, "qc") +
               flag(m.eligible, "eligible") + flag(m.recovering, "recovering") +
               flag(m.leader_announced, "announced") + flag(m.stepping_down, "stepping_down") +
               " leader=" + number(m.leader.value) + "@" + number(m.leader_epoch.value) + " " +
               to_text(m.leader_remaining) + " max_seen=" + number(m.max_seen.value) +
               " qc_age=" + to_text(m.quorum_age);
    }
    std::string operator()(const Election& m) const { return " " + number(m.attempt); }
    std::string operator()(const Ok& m) const { return " " + number(m.attempt); }
    std::string operator()(const Decline& m) const { return " " + number(m.attempt); }
    std::string operator()(const LeaderIs& m) const {
        return " " + number(m.attempt) + " " + number(m.leader.value) + "@" +
               number(m.epoch.value) + " " + to_text(m.remaining);
    }
    std::string operator()(const Coordinator& m) const {
        return " epoch=" + number(m.epoch.value) + " " + to_text(m.lease) +
               " stamp=" + time(m.stamp) + flag(m.renew, "renew") + flag(m.tie, "tie") +
               flag(m.heartbeat.has_value(), "heartbeat") + " tag=" + to_text(m.tag) +
               (m.members ? " members=" + list(*m.members) : "");
    }
    std::string operator()(const Grant& m) const {
        return " to=" + number(m.holder_incarnation.value) + " epoch=" + number(m.epoch.value) +
               " " + to_text(m.lease) + " stamp=" + time(m.stamp) +
               " tied=" + number(m.tied_session.value) +
               " voter=" + number(m.voter_incarnation.value) +
               flag(m.heartbeat.has_value(), "heartbeat");
    }
    std::string operator()(const Nack& m) const {
        return " epoch=" + number(m.epoch.value) +
               " reason=" + std::to_string(static_cast<int>(m.reason)) +
               " holder=" + number(m.promise_holder.value) + "@" + number(m.promised_epoch.value) +
               " " + to_text(m.remaining) + flag(m.parked, "parked");
    }
    std::string operator()(const Resign& m) const {
        return " epoch=" + number(m.epoch.value) + " successor=" + number(m.successor.value);
    }
    std::string operator()(const Token& m) const {
        return walk(m.walk) + " max_seen=" + number(m.max_seen.value);
    }
    std::string operator()(const TokenAck& m) const {
        return " owner=" + number(m.owner.value) + " round=" + number(m.round) +
               " step=" + std::to_string(m.step);
    }
    std::string operator()(const CoordinatorToken& m) const {
        std::string text = walk(m.walk) + (*this)(m.request) + " grants=";
        for (const TokenGrant& grant : m.grants)
            text += number(grant.voter.value) + "/" + number(grant.tied_session.value) + ",";
        text += " nacks=";
        for (const TokenNack& nack : m.nacks)
            text += number(nack.voter.value) + "/" + std::to_string(static_cast<int>(nack.reason)) +
                    ",";
        return text;
    }
};

struct Line {
    std::string operator()(const Send& a) const {
        return "Send " + number(a.session.value) + " " + test::text(a.message);
    }
    std::string operator()(const CloseSession& a) const {
        return "CloseSession " + number(a.session.value);
    }
    std::string operator()(const DialNow& a) const { return "DialNow " + number(a.peer.value); }
    std::string operator()(const Persist& a) const {
        return "Persist hw=" + number(a.durable.hw.value) +
               " promised_max=" + to_text(a.durable.promised_max);
    }
    std::string operator()(const StartTask& a) const {
        return "StartTask " + number(a.epoch.value);
    }
    std::string operator()(const StopTask& a) const {
        return "StopTask " + number(a.epoch.value) + " " + name(a.reason);
    }
    std::string operator()(const Publish& a) const {
        return "Publish " + number(a.epoch.value) + " " + time(a.deadline);
    }
    std::string operator()(const DealWith& a) const { return "DealWith " + list(a.members); }
    std::string operator()(const MembersChanged& a) const {
        return "MembersChanged " + list(a.members);
    }
    std::string operator()(const MembersAnswer& a) const {
        return "MembersAnswer " + number(a.request.number) +
               (a.done ? " done" : " refused: " + a.why);
    }
    std::string operator()(const PeerUp& a) const { return "PeerUp " + number(a.peer.value); }
    std::string operator()(const PeerDown& a) const {
        return "PeerDown " + number(a.peer.value) + " " + name(a.reason);
    }
    std::string operator()(const ElectionStarted& a) const {
        return "ElectionStarted " + number(a.epoch.value) + " \"" + a.reason + "\"";
    }
    std::string operator()(const LeaderChanged& a) const {
        return "LeaderChanged " + number(a.leader.value) + "@" + number(a.epoch.value) + " " +
               a.advertised;
    }
    std::string operator()(const Elected& a) const {
        return "Elected " + number(a.epoch.value) + " grants=" + number(a.grants.bits());
    }
    std::string operator()(const Deposed& a) const {
        return "Deposed " + number(a.epoch.value) + " " + name(a.reason) + " until " +
               time(a.held_until);
    }
    std::string operator()(const RoleChanged& a) const {
        return std::string("RoleChanged ") + name(a.role) + " " + number(a.epoch.value);
    }
    std::string operator()(const ResignAnswer& a) const {
        return "ResignAnswer " + number(a.request.number) +
               (a.done ? " done" : " refused: " + a.why);
    }
    std::string operator()(const Note& a) const { return "Note " + a.text; }
    std::string operator()(const HandshakeRefused& a) const {
        return "HandshakeRefused " + number(a.peer.value) + flag(a.by_us, "by us") +
               Fields()(a.difference) + " " + a.address;
    }
    std::string operator()(const Stopped&) const { return "Stopped"; }
};

}  // namespace

std::string text(const Message& message) { return name(message) + std::visit(Fields(), message); }
std::string text(const Action& action) { return std::visit(Line(), action); }

}  // namespace bullring::test

namespace doctest {

String StringMaker<bullring::test::Actions>::convert(const bullring::test::Actions& actions) {
    std::string lines;
    for (const bullring::protocol::Action& action : actions)
        lines += "\n    " + bullring::test::text(action);
    return (lines.empty() ? "\n    nothing" : lines).c_str();
}

}  // namespace doctest
