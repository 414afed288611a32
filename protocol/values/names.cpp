// The words of the field for enumerations and messages, as logs, events and pictures show them.
#include "protocol/values/names.hpp"

#include "protocol/values/actions.hpp"
#include "protocol/values/config.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/state.hpp"
#include "protocol/values/timing.hpp"

namespace bullring::protocol {

namespace {

struct MessageName {
    const char* operator()(const Hello&) const { return "HELLO"; }
    const char* operator()(const HelloAck&) const { return "HELLO_ACK"; }
    const char* operator()(const Refused&) const { return "REFUSED"; }
    const char* operator()(const Heartbeat&) const { return "HB"; }
    const char* operator()(const Election&) const { return "ELECTION"; }
    const char* operator()(const Ok&) const { return "OK"; }
    const char* operator()(const Decline&) const { return "DECLINE"; }
    const char* operator()(const LeaderIs&) const { return "LEADER"; }
    const char* operator()(const Coordinator&) const { return "COORDINATOR"; }
    const char* operator()(const Grant&) const { return "GRANT"; }
    const char* operator()(const Nack&) const { return "NACK"; }
    const char* operator()(const Resign&) const { return "RESIGN"; }
    const char* operator()(const Token&) const { return "TOKEN"; }
    const char* operator()(const TokenAck&) const { return "TACK"; }
    const char* operator()(const CoordinatorToken&) const { return "CTOKEN"; }
};

}  // namespace

const char* name(const Message& message) { return std::visit(MessageName{}, message); }

const char* name(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::bully: return "bully";
        case Algorithm::ring: return "ring";
    }
    return no_name;
}

const char* name(NackReason reason) {
    switch (reason) {
        case NackReason::busy: return "busy";
        case NackReason::stale: return "stale";
        case NackReason::recovering: return "recovering";
        case NackReason::reserved: return "reserved";
        case NackReason::lease_too_long: return "lease_too_long";
        case NackReason::unknown_holder: return "unknown_holder";
        case NackReason::epoch_too_high: return "epoch_too_high";
    }
    return no_name;
}

const char* name(QuorumMode mode) {
    switch (mode) {
        case QuorumMode::majority: return "majority";
        case QuorumMode::none: return "none";
    }
    return no_name;
}

const char* name(FastRelease release) {
    switch (release) {
        case FastRelease::off: return "off";
        case FastRelease::fin: return "fin";
        case FastRelease::notice: return "notice";
    }
    return no_name;
}

const char* name(FirstEpoch first) {
    switch (first) {
        case FirstEpoch::clock: return "clock";
        case FirstEpoch::zero: return "0";
    }
    return no_name;
}

const char* name(Profile profile) {
    switch (profile) {
        case Profile::realtime: return "realtime";
        case Profile::fast: return "fast";
        case Profile::lan: return "lan";
        case Profile::cloud: return "cloud";
        case Profile::wan: return "wan";
    }
    return no_name;
}

const char* name(Role role) {
    switch (role) {
        case Role::follower: return "follower";
        case Role::candidate: return "candidate";
        case Role::leader: return "leader";
        case Role::stepping_down: return "stepping_down";
    }
    return no_name;
}

const char* name(DeposedReason reason) {
    switch (reason) {
        case DeposedReason::resigned: return "resigned";
        case DeposedReason::preempted: return "preempted";
        case DeposedReason::lease_expired: return "lease_expired";
        case DeposedReason::higher_rank: return "higher_rank";
        case DeposedReason::stalled: return "stalled";
        case DeposedReason::unhealthy: return "unhealthy";
        case DeposedReason::task_ended: return "task_ended";
        case DeposedReason::task_failed: return "task_failed";
        case DeposedReason::stopped: return "stopped";
    }
    return no_name;
}

const char* name(PeerDownReason reason) {
    switch (reason) {
        case PeerDownReason::eof: return "eof";
        case PeerDownReason::reset: return "reset";
        case PeerDownReason::timeout: return "timeout";
        case PeerDownReason::refused: return "refused";
        case PeerDownReason::protocol: return "protocol";
    }
    return no_name;
}

}  // namespace bullring::protocol
