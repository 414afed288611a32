// rapidcheck generators of everything that can stand in a frame. Values are within the ranges that
// the wire format allows, their extremes included.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <rapidcheck.h>

#include "protocol/values/messages.hpp"
#include "protocol/values/rng.hpp"
#include "src/wire/notice_messages.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring::test {

// The functions below draw from rapidcheck's source and may be called only inside gen::exec or a
// property.

template <class T>
T draw(T lowest, T highest) {
    if (lowest == highest || *rc::gen::inRange(0, 8) == 0) {
        return *rc::gen::element(lowest, highest);
    }
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(lowest, highest));
}

inline std::uint64_t draw_word() { return *rc::gen::arbitrary<std::uint64_t>(); }
inline bool draw_bool() { return *rc::gen::arbitrary<bool>(); }
inline std::uint64_t draw_number(std::uint64_t lowest = 0) {
    return draw<std::uint64_t>(lowest, INT64_MAX);
}

inline std::string draw_text(std::size_t bytes_max) {
    // Filled from one drawn word: a draw for each byte is slow and shrinks to nothing better.
    std::string text(draw<std::size_t>(0, bytes_max), '\0');
    protocol::Rng rng(draw_word());
    for (char& byte : text) byte = static_cast<char>(rng.next());
    return text;
}

template <class T, class Draw>
std::vector<T> draw_list(std::size_t count_max, Draw&& item) {
    std::vector<T> items(draw<std::size_t>(0, count_max));
    for (T& element : items) element = item();
    return items;
}

template <class E>
E draw_choice(E last) {
    return static_cast<E>(draw<int>(1, static_cast<int>(last)));
}

inline protocol::Commitment draw_commitment() {
    return {draw_word(), draw_word(), draw_word(), draw_word()};
}
inline protocol::NodeId draw_id() { return {draw_number()}; }
inline protocol::NodeId draw_member() { return {draw_number(1)}; }
inline protocol::Epoch draw_epoch() { return {draw_number()}; }
inline protocol::Incarnation draw_incarnation() { return {draw_word()}; }
inline protocol::SessionId draw_session() { return {draw_word()}; }
inline protocol::MemberSet draw_set() { return protocol::MemberSet(draw_word()); }
inline protocol::Duration draw_duration() { return {draw<std::int64_t>(0, protocol::forever.ns)}; }
inline protocol::Instant draw_instant() {
    const auto clock = [] {
        return draw<std::int64_t>(protocol::long_ago.raw_ns, protocol::never.raw_ns);
    };
    return {clock(), clock()};
}
inline protocol::Priority draw_priority() {
    if (*rc::gen::inRange(0, 4) == 0) return protocol::Priority::never();
    return {draw<std::int32_t>(-1000, 1000)};
}
inline protocol::Addresses draw_addresses() {
    return {draw_text(protocol::address_bytes_max), draw_text(protocol::address_bytes_max)};
}

inline protocol::Tag draw_tag() { return {draw_epoch(), *rc::gen::arbitrary<std::uint32_t>()}; }
/// A list that is possible: the ids and the slots are all different, and the first member votes.
inline protocol::Membership draw_members() {
    std::vector<protocol::MemberEntry> entries;
    const auto count = draw<std::uint64_t>(1, 8);
    const auto first_slot = draw<protocol::Index>(0, protocol::members_max - 1);
    for (std::uint64_t i = 0; i < count; ++i)
        entries.push_back({{(i << 32U) + draw<std::uint64_t>(1, UINT32_MAX)},
                           static_cast<protocol::Index>((first_slot + i) % protocol::members_max),
                           i == 0 || draw_bool(),
                           draw_text(protocol::member_address_bytes_max)});
    protocol::Tag tag = draw_tag();
    std::vector<protocol::NodeId> founders = protocol::ids_of(entries);
    if (tag != protocol::Tag{}) founders.resize(draw<std::size_t>(1, founders.size()));
    return {tag, entries, founders};
}
inline std::optional<protocol::Membership> draw_members_or_none() {
    return draw_bool() ? std::optional(draw_members()) : std::nullopt;
}

inline protocol::ClusterId draw_cluster_id() { return {draw_word()}; }
inline std::optional<protocol::Identity> draw_identity_or_none() {
    if (draw_bool()) return std::nullopt;
    return protocol::Identity{draw_cluster_id(), draw_epoch(), draw_bool()};
}

inline protocol::Hello draw_hello() {
    protocol::Hello m;
    m.version_lowest = *rc::gen::arbitrary<std::uint16_t>();
    m.version_highest = draw<std::uint16_t>(m.version_lowest, UINT16_MAX);
    m.cluster = draw_text(protocol::cluster_name_bytes_max);
    m.members = draw_list<protocol::NodeId>(protocol::members_max, draw_member);
    std::sort(m.members.begin(), m.members.end());
    m.members.erase(std::unique(m.members.begin(), m.members.end()), m.members.end());
    m.quorum = draw_choice(protocol::QuorumMode::none);
    m.algorithm = draw_choice(protocol::Algorithm::ring);
    m.rho_ppm = *rc::gen::arbitrary<std::uint32_t>();
    m.id = draw_member();
    m.incarnation = draw_incarnation();
    m.session = draw_session();
    m.priority = draw_priority();
    m.lease = draw_duration();
    m.heartbeat_period = draw_duration();
    m.advertised = draw_text(protocol::advertised_bytes_max);
    m.addresses = draw_addresses();
    m.fast_release = draw_choice(protocol::FastRelease::notice);
    m.commitment = draw_commitment();
    m.recovering = draw_bool();
    m.had_file_at_start = draw_bool();
    // It is written in the lowest version that it says.
    if (m.version_lowest >= protocol::version_with_tags) {
        m.changed = draw_members_or_none();
        m.shown = draw_members_or_none();
    }
    m.cluster_id = draw_cluster_id();
    m.directory = {draw_word()};
    m.listens = draw_text(protocol::address_bytes_max);
    return m;
}

inline protocol::HelloAck draw_hello_ack() {
    protocol::HelloAck m;
    m.id = draw_member();
    m.incarnation = draw_incarnation();
    m.priority = draw_priority();
    m.lease = draw_duration();
    m.addresses = draw_addresses();
    m.max_seen = draw_epoch();
    m.clock_epoch = draw_epoch();
    m.promised_max = draw_duration();
    m.lease_max = draw_duration();
    m.had_file_at_start = draw_bool();
    m.recovering = draw_bool();
    m.recall.answer = draw_choice(protocol::Recall::Answer::cannot_tell);
    m.recall.epoch = draw_epoch();
    m.recall.remaining = draw_duration();
    m.recall.to_leader = draw_bool();
    m.version = *rc::gen::arbitrary<std::uint16_t>();
    m.changed = draw_members_or_none();
    m.shown = draw_members_or_none();
    m.cluster_id = draw_cluster_id();
    m.identity = draw_identity_or_none();
    return m;
}

inline protocol::Heartbeat draw_heartbeat() {
    protocol::Heartbeat m;
    m.heard = draw_set();
    m.quorum_connected = draw_bool();
    m.eligible = draw_bool();
    m.recovering = draw_bool();
    m.leader_announced = draw_bool();
    m.stepping_down = draw_bool();
    m.leader = draw_id();
    m.leader_epoch = draw_epoch();
    m.leader_remaining = draw_duration();
    m.max_seen = draw_epoch();
    m.quorum_age = draw_duration();
    return m;
}

inline protocol::Coordinator draw_coordinator() {
    protocol::Coordinator m;
    m.epoch = draw_epoch();
    m.lease = draw_duration();
    m.stamp = draw_instant();
    m.renew = draw_bool();
    m.tie = draw_bool();
    if (draw_bool()) m.heartbeat = draw_heartbeat();
    m.tag = draw_tag();
    m.members = draw_members_or_none();
    m.settled = draw_bool();
    m.identity = draw_identity_or_none();
    return m;
}

inline protocol::Grant draw_grant() {
    protocol::Grant m;
    m.holder_incarnation = draw_incarnation();
    m.epoch = draw_epoch();
    m.lease = draw_duration();
    m.stamp = draw_instant();
    m.tied_session = draw_session();
    m.voter_incarnation = draw_incarnation();
    if (draw_bool()) m.heartbeat = draw_heartbeat();
    m.tag = draw_tag();
    m.identity = draw_identity_or_none();
    return m;
}

inline protocol::Nack draw_nack() {
    protocol::Nack m;
    m.holder_incarnation = draw_incarnation();
    m.epoch = draw_epoch();
    m.reason = draw_choice(protocol::last_nack_reason);
    m.promise_holder = draw_id();
    m.promised_epoch = draw_epoch();
    m.remaining = draw_duration();
    m.parked = draw_bool();
    m.members = draw_members_or_none();
    m.identity = draw_identity_or_none();
    return m;
}

inline protocol::Walk draw_walk() {
    protocol::Walk m;
    m.owner = draw_member();
    m.owner_incarnation = draw_incarnation();
    m.round = draw_word();
    m.step = *rc::gen::arbitrary<std::uint32_t>();
    m.visited = draw_set();
    m.path = draw_list<protocol::Index>(protocol::members_max,
                                        [] { return draw<protocol::Index>(0, 63); });
    return m;
}

inline protocol::CoordinatorToken draw_coordinator_token() {
    protocol::CoordinatorToken m;
    m.walk = draw_walk();
    m.request = draw_coordinator();
    m.grants = draw_list<protocol::TokenGrant>(protocol::members_max, [] {
        return protocol::TokenGrant{draw_member(), draw_incarnation(), draw_session()};
    });
    m.nacks = draw_list<protocol::TokenNack>(protocol::members_max, [] {
        return protocol::TokenNack{draw_member(), draw_choice(protocol::last_nack_reason),
                                   draw_id(), draw_epoch(), draw_duration()};
    });
    return m;
}

inline constexpr std::size_t message_kinds = std::variant_size_v<protocol::Message>;
inline constexpr std::size_t notice_message_kinds = std::variant_size_v<NoticeMessage>;
inline constexpr std::size_t observer_message_kinds = std::variant_size_v<ObserverMessage>;

/// A message of the variant's alternative `kind`.
inline protocol::Message draw_message(std::size_t kind) {
    using namespace protocol;
    switch (kind) {
        case 0: return draw_hello();
        case 1: return draw_hello_ack();
        case 2:
            return Refused{draw_text(64), draw_text(1536), draw_text(1536), draw_members_or_none(),
                           draw_cluster_id()};
        case 3: return draw_heartbeat();
        case 4: return protocol::Election{draw_word()};
        case 5: return Ok{draw_word()};
        case 6: return Decline{draw_word()};
        case 7: return LeaderIs{draw_word(), draw_id(), draw_epoch(), draw_duration()};
        case 8: return draw_coordinator();
        case 9: return draw_grant();
        case 10: return draw_nack();
        case 11: return Resign{draw_epoch(), draw_id()};
        case 12: return Token{draw_walk(), draw_priority(), draw_epoch()};
        case 13:
            return TokenAck{draw_member(), draw_incarnation(), draw_word(),
                            *rc::gen::arbitrary<std::uint32_t>()};
        default: return draw_coordinator_token();
    }
}

inline NoticeMessage draw_notice_message(std::size_t kind) {
    if (kind == 0) return Mourn{};
    return Dead{{draw_word(), draw_word(), draw_word(), draw_word()}};
}

inline ObserverMessage draw_observer_message(std::size_t kind) {
    switch (kind) {
        case 0:
            return Observe{draw_text(protocol::cluster_name_bytes_max),
                           draw_choice(ObserveWhat::resign), draw_id()};
        case 1: return ObserverState{draw_text(4096)};
        case 2:
            return ObserverChange{
                *rc::gen::arbitrary<std::int64_t>(),       draw_id(),       draw_epoch(),
                draw_text(protocol::advertised_bytes_max), {draw_number()}, draw_duration()};
        case 3: return ResignResult{draw_bool(), draw_text(1024), draw_bool()};
        case 4: return ObserverRefused{draw_text(64), draw_text(1536), draw_text(1536)};
        case 5:
            return Drill{draw_text(protocol::cluster_name_bytes_max),
                         draw_choice(DrillRequest::cut), draw_epoch()};
        case 6: return DrillResult{draw_bool(), draw_text(1024), draw_duration(), draw_number()};
        case 7:
            return ChangeMembers{draw_text(protocol::cluster_name_bytes_max),
                                 {draw_choice(protocol::MemberChange::What::address), draw_member(),
                                  draw_text(protocol::member_address_bytes_max)},
                                 {draw_number()}};
        default: return ChangeResult{draw_bool(), draw_text(1024), draw_bool()};
    }
}

}  // namespace bullring::test
