// The fields of each message's body, in their order: the wire format, once for both directions
// (`Coder` is a Writer or a Reader). What a version has is
// never changed; a new field comes at the end of its message or part, by `since` with the version
// that it raises `protocol::version_highest` to (PROTOCOL §4). A member that is left out, or one
// that is out of this order, does not compile. Included by the codec's files only.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/values/algorithms.hpp"
#include "protocol/values/messages.hpp"
#include "src/wire/codec_members.hpp"
#include "src/wire/message_types.hpp"
#include "src/wire/notice_messages.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring::codec {

/// Of the head's layout, not of the messages.
inline constexpr std::uint8_t head_version = 4;

// The texts of a refusal and the JSON of one node; the other caps are the protocol's.
inline constexpr std::size_t field_bytes_max = 64;
inline constexpr std::size_t difference_bytes_max = 1536;
inline constexpr std::size_t status_bytes_max = 60 * 1024;
inline constexpr std::size_t why_bytes_max = 1024;

/// M is T, const for a Writer.
template <class M, class T>
concept Is = std::same_as<std::remove_const_t<M>, T>;

template <class Coder, Is<protocol::Addresses> M>
constexpr void fields(Coder& c, M& m) {
    c.text(m.local, protocol::address_bytes_max);
    c.text(m.remote, protocol::address_bytes_max);
}

template <class Coder, class M>
requires Is<M, protocol::Commitment> || Is<M, DeathSecret>
constexpr void fields(Coder& c, M& m) {
    c(m.first);
    c(m.second);
    c(m.third);
    c(m.fourth);
}

template <class Coder, Is<protocol::Tag> M>
constexpr void fields(Coder& c, M& m) {
    c(m.epoch);
    c(m.version);
}

template <class Coder, Is<protocol::Identity> M>
constexpr void fields(Coder& c, M& m) {
    c(m.id);
    c(m.epoch);
    c.flags(m.settled);
}

template <class Coder, Is<protocol::MemberEntry> M>
constexpr void fields(Coder& c, M& m) {
    c.member(m.id);
    c(m.slot);
    c.flags(m.votes);
    c.text(m.address, protocol::member_address_bytes_max);
}

/// A list of members, which is made of its parts at once.
template <class Coder, Is<protocol::Membership> M>
constexpr void members(Coder& c, M& m) {
    protocol::Tag tag = m.tag().value_or(protocol::Tag{});
    std::vector<protocol::MemberEntry> entries = m.entries();
    std::vector<protocol::NodeId> founders = m.founders();
    whole(c, tag);
    c.list(entries, protocol::members_max, [&](auto& entry) { whole(c, entry); });
    c.list(founders, protocol::members_max, [&](auto& id) { c.member(id); });
    // So a list is written in one way only.
    c.check(
        [&] { return std::ranges::is_sorted(entries, std::less(), &protocol::MemberEntry::id); },
        "member ids are not in ascending order");
    c.check([&] { return protocol::Membership::is_possible(tag, entries, founders); },
            "a list of members that nobody can have");
    if constexpr (!std::is_const_v<M>)
        m = protocol::Membership(tag, std::move(entries), std::move(founders));
}

template <class Coder, Is<protocol::Hello> M>
constexpr void fields(Coder& c, M& m) {
    c(m.version_lowest);
    c(m.version_highest);
    c.check([&] { return m.version_lowest <= m.version_highest; },
            "protocol versions in the wrong order");
    c.written_in(m.version_lowest);
    c.text(m.cluster, protocol::cluster_name_bytes_max);
    c.list(m.members, protocol::members_max, [&](auto& id) { c.member(id); });
    c.check([&] { return std::is_sorted(m.members.begin(), m.members.end(), std::less_equal<>()); },
            "member ids are not in ascending order");
    c.choice(m.quorum, protocol::QuorumMode::none);
    c.choice(m.algorithm, protocol::last_algorithm);
    c(m.rho_ppm);
    c.member(m.id);
    c(m.incarnation);
    c(m.session);
    c(m.priority);
    c(m.lease);
    c(m.heartbeat_period);
    c.text(m.advertised, protocol::advertised_bytes_max);
    whole(c, m.addresses);
    c.choice(m.fast_release, protocol::FastRelease::notice);
    whole(c, m.commitment);
    c.flags(m.recovering, m.had_file_at_start);
    c.since(3, [&] {
        c.optional(m.changed, [&](auto& list) { members(c, list); });
        c.optional(m.shown, [&](auto& list) { members(c, list); });
    });
    c.behind(4, [&] { c(m.cluster_id); });
    c.behind(5, [&] {
        c(m.directory);
        c.text(m.listens, protocol::address_bytes_max);
    });
}

template <class Coder, Is<protocol::Recall> M>
constexpr void fields(Coder& c, M& m) {
    c.choice(m.answer, protocol::Recall::Answer::cannot_tell);
    c(m.epoch);
    c(m.remaining);
    c.flags(m.to_leader);
}

template <class Coder, Is<protocol::HelloAck> M>
constexpr void fields(Coder& c, M& m) {
    c.member(m.id);
    c(m.incarnation);
    c(m.priority);
    c(m.lease);
    whole(c, m.addresses);
    c(m.max_seen);
    c(m.clock_epoch);
    c(m.promised_max);
    c(m.lease_max);
    c.flags(m.had_file_at_start, m.recovering);
    whole(c, m.recall);
    c.since(2, [&] { c(m.version); });
    c.since(3, [&] {
        c.optional(m.changed, [&](auto& list) { members(c, list); });
        c.optional(m.shown, [&](auto& list) { members(c, list); });
    });
    c.since(4, [&] { c(m.cluster_id); });
    c.since(5, [&] { c.optional(m.identity, [&](auto& identity) { whole(c, identity); }); });
}

template <class Coder, Is<protocol::Refused> M>
constexpr void fields(Coder& c, M& m) {
    c.text(m.field, field_bytes_max);
    c.text(m.mine, difference_bytes_max);
    c.text(m.yours, difference_bytes_max);
    c.since(3, [&] { c.optional(m.list, [&](auto& list) { members(c, list); }); });
    c.since(4, [&] { c(m.cluster_id); });
}

template <class Coder, Is<ObserverRefused> M>
constexpr void fields(Coder& c, M& m) {
    c.text(m.field, field_bytes_max);
    c.text(m.mine, difference_bytes_max);
    c.text(m.yours, difference_bytes_max);
}

template <class Coder, Is<protocol::Heartbeat> M>
constexpr void fields(Coder& c, M& m) {
    c.flags(m.quorum_connected, m.eligible, m.recovering, m.leader_announced, m.stepping_down);
    c(m.heard);
    c(m.leader);
    c(m.leader_epoch);
    c(m.leader_remaining);
    c(m.max_seen);
    c(m.quorum_age);
    c.since(6, [&] {
        c.choice(m.work, protocol::Work::asked);
        c.text(m.advertised, protocol::advertised_bytes_max);
    });
}

template <class Coder, class M>
requires Is<M, protocol::Election> || Is<M, protocol::Ok> || Is<M, protocol::Decline>
constexpr void fields(Coder& c, M& m) { c(m.attempt); }

template <class Coder, Is<protocol::LeaderIs> M>
constexpr void fields(Coder& c, M& m) {
    c(m.attempt);
    c(m.leader);
    c(m.epoch);
    c(m.remaining);
}

template <class Coder, Is<protocol::Coordinator> M>
constexpr void fields(Coder& c, M& m) {
    c(m.epoch);
    c(m.lease);
    c(m.stamp);
    c.flags(m.renew, m.tie);
    c.optional(m.heartbeat, [&](auto& heartbeat) { whole(c, heartbeat); });
    c.since(3, [&] {
        whole(c, m.tag);
        c.optional(m.members, [&](auto& list) { members(c, list); });
        c.flags(m.settled);
    });
    c.since(4, [&] { c.optional(m.identity, [&](auto& identity) { whole(c, identity); }); });
}

template <class Coder, Is<protocol::Grant> M>
constexpr void fields(Coder& c, M& m) {
    c(m.holder_incarnation);
    c(m.epoch);
    c(m.lease);
    c(m.stamp);
    c(m.tied_session);
    c(m.voter_incarnation);
    c.optional(m.heartbeat, [&](auto& heartbeat) { whole(c, heartbeat); });
    c.since(3, [&] { whole(c, m.tag); });
    c.since(4, [&] { c.optional(m.identity, [&](auto& identity) { whole(c, identity); }); });
}

template <class Coder, Is<protocol::Nack> M>
constexpr void fields(Coder& c, M& m) {
    c(m.holder_incarnation);
    c(m.epoch);
    c.choice(m.reason, protocol::last_nack_reason);
    c(m.promise_holder);
    c(m.promised_epoch);
    c(m.remaining);
    c.flags(m.parked);
    c.since(3, [&] { c.optional(m.members, [&](auto& list) { members(c, list); }); });
    c.since(5, [&] { c.optional(m.identity, [&](auto& identity) { whole(c, identity); }); });
}

template <class Coder, Is<protocol::Resign> M>
constexpr void fields(Coder& c, M& m) {
    c(m.epoch);
    c(m.successor);
}

template <class Coder, Is<protocol::Walk> M>
constexpr void fields(Coder& c, M& m) {
    c.member(m.owner);
    c(m.owner_incarnation);
    c(m.round);
    c(m.step);
    c(m.visited);
    c.list(m.path, protocol::members_max, [&](auto& index) {
        c(index);
        c.check([&] { return index < protocol::members_max; },
                "a place on the path beyond the members");
    });
}

template <class Coder, Is<protocol::Token> M>
constexpr void fields(Coder& c, M& m) {
    whole(c, m.walk);
    c(m.owner_priority);
    c(m.max_seen);
}

template <class Coder, Is<protocol::TokenAck> M>
constexpr void fields(Coder& c, M& m) {
    c.member(m.owner);
    c(m.owner_incarnation);
    c(m.round);
    c(m.step);
}

template <class Coder, Is<protocol::TokenGrant> M>
constexpr void fields(Coder& c, M& m) {
    c.member(m.voter);
    c(m.voter_incarnation);
    c(m.tied_session);
}

template <class Coder, Is<protocol::TokenNack> M>
constexpr void fields(Coder& c, M& m) {
    c.member(m.voter);
    c.choice(m.reason, protocol::last_nack_reason);
    c(m.promise_holder);
    c(m.promised_epoch);
    c(m.remaining);
}

template <class Coder, Is<protocol::CoordinatorToken> M>
constexpr void fields(Coder& c, M& m) {
    whole(c, m.walk);
    whole(c, m.request);
    c.list(m.grants, protocol::members_max, [&](auto& grant) { whole(c, grant); });
    c.list(m.nacks, protocol::members_max, [&](auto& nack) { whole(c, nack); });
}

template <class Coder, Is<Observe> M>
constexpr void fields(Coder& c, M& m) {
    c.text(m.cluster, protocol::cluster_name_bytes_max);
    c.choice(m.what, ObserveWhat::resign);
    c(m.resign_to);
}

template <class Coder, Is<ObserverState> M>
constexpr void fields(Coder& c, M& m) {
    c.text(m.json, status_bytes_max);
}

template <class Coder, Is<ObserverChange> M>
constexpr void fields(Coder& c, M& m) {
    c(m.ts_ns);
    c(m.leader);
    c(m.epoch);
    c.text(m.advertised, protocol::advertised_bytes_max);
    c.at_end([&] {
        c(m.cluster_id);
        c(m.gap);
    });
}

template <class Coder, Is<ResignResult> M>
constexpr void fields(Coder& c, M& m) {
    c.flags(m.done, m.lasting);
    c.text(m.why, why_bytes_max);
}

template <class Coder, Is<Drill> M>
constexpr void fields(Coder& c, M& m) {
    c.text(m.cluster, protocol::cluster_name_bytes_max);
    c.choice(m.what, DrillRequest::cut);
    c(m.epoch);
}

template <class Coder, Is<DrillResult> M>
constexpr void fields(Coder& c, M& m) {
    c.flags(m.done);
    c.text(m.why, why_bytes_max);
    c(m.lease);
    c(m.members);
}

template <class Coder, Is<protocol::MemberChange> M>
constexpr void fields(Coder& c, M& m) {
    c.choice(m.what, protocol::MemberChange::What::address);
    c.member(m.id);
    c.text(m.address, protocol::member_address_bytes_max);
}

template <class Coder, Is<ChangeMembers> M>
constexpr void fields(Coder& c, M& m) {
    c.text(m.cluster, protocol::cluster_name_bytes_max);
    whole(c, m.change);
    c.at_end([&] { c(m.cluster_id); });
}

template <class Coder, Is<ChangeResult> M>
constexpr void fields(Coder& c, M& m) {
    c.flags(m.done, m.lasting);
    c.text(m.why, why_bytes_max);
}

template <class Coder, Is<Mourn> M>
constexpr void fields(Coder& /*c*/, M& /*m*/) {}

template <class Coder, Is<Dead> M>
constexpr void fields(Coder& c, M& m) {
    whole(c, m.secret);
}

}  // namespace bullring::codec
