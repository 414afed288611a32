// The words of the field for enumerations and messages, as logs, events and pictures show them.
#include "protocol/values/names.hpp"

#include <array>
#include <utility>

#include "protocol/values/actions.hpp"
#include "protocol/values/algorithms.hpp"
#include "protocol/values/config.hpp"
#include "protocol/values/difference.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/state.hpp"
#include "protocol/values/timing.hpp"

namespace bullring::protocol {

namespace {

constexpr const char* word_for(std::in_place_type_t<Hello> /*kind*/) { return "HELLO"; }
constexpr const char* word_for(std::in_place_type_t<HelloAck> /*kind*/) { return "HELLO_ACK"; }
constexpr const char* word_for(std::in_place_type_t<Refused> /*kind*/) { return "REFUSED"; }
constexpr const char* word_for(std::in_place_type_t<Heartbeat> /*kind*/) { return "HB"; }
constexpr const char* word_for(std::in_place_type_t<Election> /*kind*/) { return "ELECTION"; }
constexpr const char* word_for(std::in_place_type_t<Ok> /*kind*/) { return "OK"; }
constexpr const char* word_for(std::in_place_type_t<Decline> /*kind*/) { return "DECLINE"; }
constexpr const char* word_for(std::in_place_type_t<LeaderIs> /*kind*/) { return "LEADER"; }
constexpr const char* word_for(std::in_place_type_t<Coordinator> /*kind*/) { return "COORDINATOR"; }
constexpr const char* word_for(std::in_place_type_t<Grant> /*kind*/) { return "GRANT"; }
constexpr const char* word_for(std::in_place_type_t<Nack> /*kind*/) { return "NACK"; }
constexpr const char* word_for(std::in_place_type_t<Resign> /*kind*/) { return "RESIGN"; }
constexpr const char* word_for(std::in_place_type_t<Token> /*kind*/) { return "TOKEN"; }
constexpr const char* word_for(std::in_place_type_t<TokenAck> /*kind*/) { return "TACK"; }
constexpr const char* word_for(std::in_place_type_t<CoordinatorToken> /*kind*/) { return "CTOKEN"; }

template <class... Kind>
constexpr std::array<const char*, sizeof...(Kind)> words_for(const std::variant<Kind...>* /*of*/) {
    return {word_for(std::in_place_type<Kind>)...};
}

constexpr auto message_words = words_for(static_cast<const Message*>(nullptr));

}  // namespace

const char* name(const Message& message) { return message_words[message.index()]; }

std::span<const char* const> message_names() { return message_words; }

const char* name(Algorithm algorithm) {
    for (const AlgorithmRow& row : algorithm_table)
        if (row.algorithm == algorithm) return row.name;
    return no_name;
}

const char* name(Difference difference) {
    switch (difference) {
        case Difference::version: return "version";
        case Difference::cluster: return "cluster";
        case Difference::founders: return "founders";
        case Difference::cluster_id: return "cluster id";
        case Difference::quorum: return "quorum";
        case Difference::algorithm: return "algorithm";
        case Difference::rho: return "rho";
        case Difference::members: return "members";
        case Difference::member: return "member";
        case Difference::id: return "id";
        case Difference::session: return "session";
        case Difference::address: return "address";
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
        case NackReason::stale_members: return "stale_members";
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

const char* name(Work work) {
    switch (work) {
        case Work::own: return "own";
        case Work::none: return "none";
        case Work::asked: return "asked";
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
