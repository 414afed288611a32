// How actions and messages look in the report of a failed comparison.
#include "protocol/trace/trace_fields.hpp"
#include "protocol/values/fields.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::test {

using namespace protocol;

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }
std::string number(std::int64_t value) { return std::to_string(value); }
std::string time(Instant at) { return number(at.boottime_ns) + "/" + number(at.raw_ns); }
std::string flag(bool set, const char* name) { return set ? std::string(" ") + name : ""; }

std::string list(const Membership& members) {
    return (members.tag() ? to_text(*members.tag()) : "untagged") + " " + ids_text(members);
}

/// Every value, in the order of the struct, also those that have no name below.
struct Values {
    std::string text;

    void take(const std::string& value) { text += " \"" + value + "\""; }
    void take(const Duration& value) { text += " " + to_text(value); }
    void take(const Instant& value) { text += " " + time(value); }
    void take(const Membership& value) { text += " " + list(value); }
    void word(std::uint64_t value) { text += " " + number(value); }
};

/// As a trace has them, and then all.
template <class M>
std::string fields(const M& message) {
    std::string text = " ";
    JsonLine line(text);
    MessageFields{line}(message);
    Values values;
    take_apart(message, values);
    return text + "}" + values.text;
}

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
               fields(a.difference) + " " + a.address;
    }
    std::string operator()(const Stopped&) const { return "Stopped"; }
};

}  // namespace

std::string text(const Message& message) {
    return name(message) + std::visit([](const auto& m) { return fields(m); }, message);
}
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
