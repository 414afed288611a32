// Draws the messages of other members to one node: a message such as a sound member could send now,
// and then any of its numbers replaced, by one that means something here or by any at all. Draws
// only messages that the wire format can carry.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/node.hpp"
#include "protocol/values/fields.hpp"
#include "src/wire/codec.hpp"
#include "tests/fuzz/input.hpp"

namespace bullring::fuzz {

/// The observations of the node, for numbers that mean something to it.
struct Seen {
    protocol::Config config;
    protocol::Incarnation incarnation;
    protocol::Instant now;
    protocol::Epoch epoch{1};  // the highest that was seen
    protocol::Coordinator request;
    std::optional<protocol::Token> token;
    std::optional<protocol::CoordinatorToken> coordinator_token;
    std::uint64_t attempt = 1;
    std::uint64_t round = 1;                    // of the peers' tokens
    std::vector<protocol::SessionId> sessions;  // the node's own numbers
};

template <class T, class... Ts>
inline constexpr bool one_of = (std::is_same_v<T, Ts> || ...);
template <class T>
inline constexpr bool is_number =
    std::is_arithmetic_v<T> || std::is_enum_v<T> ||
    one_of<T, protocol::NodeId, protocol::Incarnation, protocol::Epoch, protocol::SessionId,
           protocol::Priority, protocol::Duration, protocol::Instant, protocol::MemberSet>;

/// Numbers by their meaning.
class Numbers {
public:
    Numbers(Input& input, const Seen& seen) : input_(input), seen_(seen) {}

    template <class T>
    T draw() {
        using namespace protocol;
        if constexpr (std::is_same_v<T, Epoch>)
            return epoch();
        else if constexpr (std::is_same_v<T, Duration>)
            return duration();
        else if constexpr (std::is_same_v<T, Instant>)
            return instant();
        else if constexpr (std::is_same_v<T, NodeId>)
            return node_id();
        else if constexpr (std::is_same_v<T, Incarnation>)
            return input_.flag() ? seen_.incarnation : Incarnation{input_.number()};
        else if constexpr (std::is_same_v<T, SessionId>)
            return session();
        else if constexpr (std::is_same_v<T, Priority>)
            return input_.one_of({Priority{0}, Priority{1000}, Priority{-1000}, Priority::never()});
        else if constexpr (std::is_same_v<T, MemberSet>)
            return MemberSet(input_.flag() ? input_.number() : input_.number<std::uint64_t>());
        else if constexpr (std::is_same_v<T, bool>)
            return input_.flag();
        else if constexpr (std::is_enum_v<T>)
            return static_cast<T>(1 + input_.below(values_of<T>));
        else if constexpr (std::is_same_v<T, Index>)
            return static_cast<Index>(
                input_.below(input_.flag() ? seen_.config.members.size() : members_max));
        else
            return input_.flag() ? static_cast<T>(input_.number())
                                 : static_cast<T>(input_.number<std::make_unsigned_t<T>>());
    }

private:
    template <class E>
    static constexpr std::size_t values_of = std::is_same_v<E, protocol::NackReason>       ? 7
                                             : std::is_same_v<E, protocol::Recall::Answer> ? 3
                                             : std::is_same_v<E, protocol::FastRelease>    ? 3
                                                                                           : 2;

    protocol::Epoch epoch() {
        constexpr std::uint64_t one = 1;
        const std::uint64_t here = seen_.epoch.value;
        switch (input_.below(8)) {
            case 0: return seen_.request.epoch;
            case 1: return {here - std::min<std::uint64_t>(here, input_.number())};
            case 2: return {here + 1 + input_.number()};
            case 3: return {here + input_.number<std::uint32_t>()};
            case 4:
                return input_.one_of<protocol::Epoch>({{one << 54U},
                                                       {(one << 54U) + (one << 20U) + 1},
                                                       {(one << 60U) - 1},
                                                       {one << 60U},
                                                       {one << 62U},
                                                       {INT64_MAX}});
            case 5: return {input_.number<std::uint64_t>() & INT64_MAX};
            default: return {here + 1};
        }
    }
    protocol::Duration duration() {
        const protocol::Timing& t = seen_.config.timing;
        if (input_.below(4) == 0) {
            const auto any = static_cast<std::int64_t>(input_.number<std::uint64_t>() & INT64_MAX);
            return {any % protocol::forever.ns};
        }
        return input_.one_of({t.lease, t.campaign_lease, t.lease_max, t.heartbeat,
                              t.promise(t.lease), t.promise(t.lease_max), protocol::Duration{0},
                              protocol::Duration{1}, t.lease_max + protocol::Duration{1},
                              protocol::seconds(3600), protocol::forever});
    }
    protocol::Instant instant() {
        const protocol::Duration by{input_.magnitude()};
        switch (input_.below(7)) {
            case 0: return seen_.request.stamp;
            case 1: return seen_.now - by;
            case 2: return seen_.now + by;
            case 3: return {seen_.now.boottime_ns + by.ns, seen_.now.raw_ns};
            case 4: return {seen_.now.boottime_ns, seen_.now.raw_ns + by.ns};
            case 5: return protocol::long_ago;
            default: return protocol::never;
        }
    }
    protocol::NodeId node_id() {
        const auto& ids = seen_.config.members.ids();
        const std::size_t which = input_.number();
        if (which == 255) return {INT64_MAX};
        if (which == 254) return protocol::nobody;
        return which < 240 ? ids[which % ids.size()] : protocol::NodeId{which};
    }
    protocol::SessionId session() {
        const std::size_t which = input_.number();
        if (which < 32 || seen_.sessions.empty()) return {which % 4};
        return seen_.sessions[which % seen_.sessions.size()];
    }

    Input& input_;
    const Seen& seen_;
};

/// Replaces the k-th number of a message.
class Forgery {
public:
    Forgery(Numbers& numbers, std::size_t k) : numbers_(numbers), left_(k) {}

    template <class T>
    requires is_number<T>
    void take(const T& field) {
        // The message that is taken apart is the caller's own.
        if (left_-- == 0) const_cast<T&>(field) = numbers_.draw<T>();  // NOLINT
    }
    void take(const std::string& /*text*/) {}
    void word(std::uint64_t /*size*/) {}

private:
    Numbers& numbers_;
    std::size_t left_;
};

class Speaker {
public:
    Speaker(Input& input, const Seen& seen) : input_(input), seen_(seen), numbers_(input, seen) {}

    protocol::Hello hello(Sender peer, protocol::SessionId number) {
        protocol::Hello hello;
        hello.cluster = seen_.config.cluster;
        hello.members = seen_.config.members.ids();
        hello.quorum = seen_.config.quorum;
        hello.algorithm = seen_.config.algorithm;
        hello.rho_ppm = seen_.config.timing.rho_ppm;
        hello.id = peer.id;
        hello.incarnation = peer.incarnation;
        hello.session = number;
        hello.lease = seen_.config.timing.lease;
        hello.heartbeat_period = seen_.config.timing.heartbeat;
        hello.addresses = {"peer", "node"};
        hello.fast_release = seen_.config.fast_release;
        return hello;
    }
    protocol::HelloAck hello_ack(Sender peer) {
        protocol::HelloAck ack;
        ack.id = peer.id;
        ack.incarnation = peer.incarnation;
        ack.lease = seen_.config.timing.lease;
        ack.addresses = {"peer", "node"};
        ack.promised_max = seen_.config.timing.promise(seen_.config.timing.lease);
        ack.lease_max = seen_.config.timing.lease_max;
        ack.had_file_at_start = true;
        ack.version = seen_.config.wire_highest;
        return ack;
    }
    protocol::Heartbeat heartbeat() {
        protocol::Heartbeat heartbeat;
        heartbeat.heard = seen_.config.members.all();
        heartbeat.quorum_connected = true;
        heartbeat.eligible = input_.flag();
        heartbeat.quorum_age = protocol::seconds(1);
        return heartbeat;
    }

    /// Any message but a handshake that the wire can carry; nullopt: it cannot carry the one that
    /// was drawn.
    std::optional<protocol::Message> later(Sender peer, protocol::SessionId dialled_to_it) {
        return forged(sound(peer, dialled_to_it), peer);
    }
    template <class M>
    std::optional<M> forged_as(M message, Sender peer) {
        const auto said = forged(std::move(message), peer);
        if (!said || !std::holds_alternative<M>(*said)) return std::nullopt;
        return std::get<M>(*said);
    }

private:
    std::optional<protocol::Message> forged(protocol::Message message, Sender peer) {
        for (std::size_t times = input_.below(8) % 5; times > 0; --times) {
            Forgery forgery(numbers_, input_.below(48));
            std::visit([&](const auto& m) { protocol::take_apart(m, forgery); }, message);
        }
        std::vector<std::byte> bytes;
        encode(peer, message, protocol::version_highest, bytes);
        auto frame = decode(bytes);
        if (!frame) return std::nullopt;
        return std::get<protocol::Message>(std::move(frame->message));
    }

    protocol::Walk walk(Sender owner) {
        protocol::Walk walk;
        walk.owner = owner.id;
        walk.owner_incarnation = owner.incarnation;
        walk.round = seen_.round + input_.below(2);
        walk.step = static_cast<std::uint32_t>(1 + input_.below(4));
        const auto index = seen_.config.members.index(owner.id);
        if (index) {
            walk.visited.insert(*index);
            walk.path = {*index};
        }
        return walk;
    }
    /// The node's own, come home by way of this peer, or what it would be.
    template <class T>
    static T home(T token, Sender peer, const protocol::Membership& members) {
        token.walk.step += 1;
        if (const auto index = members.index(peer.id)) token.walk.visited.insert(*index);
        return token;
    }

    protocol::Coordinator request(bool renew) {
        protocol::Coordinator request;
        request.epoch = numbers_.draw<protocol::Epoch>();
        request.lease = renew ? seen_.config.timing.lease : seen_.config.timing.campaign_lease;
        request.stamp = seen_.now;
        request.renew = renew;
        request.tie = input_.flag();
        if (renew && input_.flag()) request.heartbeat = heartbeat();
        return request;
    }

    protocol::Message sound(Sender peer, protocol::SessionId dialled_to_it) {
        using namespace protocol;
        const Epoch own = seen_.request.epoch;
        switch (input_.below(20)) {
            case 0: return Election{1 + std::uint64_t{input_.number()}};
            case 1: return Ok{seen_.attempt};
            case 2: return Decline{seen_.attempt};
            case 3:
                return LeaderIs{seen_.attempt, numbers_.draw<NodeId>(), numbers_.draw<Epoch>(),
                                milliseconds(300)};
            case 4: return request(false);
            case 5: return request(true);
            case 6:
            case 7:
            case 8: {
                Grant grant{seen_.incarnation,
                            own,
                            seen_.request.lease,
                            seen_.request.stamp,
                            seen_.request.tie ? dialled_to_it : no_session,
                            peer.incarnation};
                if (input_.flag()) grant.heartbeat = heartbeat();
                return grant;
            }
            case 9:
                return Nack{seen_.incarnation,
                            own,
                            numbers_.draw<NackReason>(),
                            numbers_.draw<NodeId>(),
                            numbers_.draw<Epoch>(),
                            milliseconds(100),
                            input_.flag()};
            case 10: return Resign{numbers_.draw<Epoch>(), numbers_.draw<NodeId>()};
            case 11: return Token{walk(peer), {}, numbers_.draw<Epoch>()};
            case 12:
                if (seen_.token) return home(*seen_.token, peer, seen_.config.members);
                return TokenAck{seen_.config.self, seen_.incarnation, 1, 1};
            case 13: {
                const Walk from = seen_.token ? seen_.token->walk : walk(peer);
                return TokenAck{from.owner, from.owner_incarnation, from.round, from.step};
            }
            case 14: return CoordinatorToken{walk(peer), request(input_.flag()), {}, {}};
            case 15:
            case 16:
                if (seen_.coordinator_token) {
                    CoordinatorToken token =
                        home(*seen_.coordinator_token, peer, seen_.config.members);
                    if (input_.flag())
                        token.grants.push_back({peer.id, peer.incarnation, dialled_to_it});
                    else
                        token.nacks.push_back({peer.id, NackReason::busy, seen_.config.self,
                                               seen_.epoch, milliseconds(100)});
                    return token;
                }
                return heartbeat();
            case 17: {
                Heartbeat said = heartbeat();
                said.leader = numbers_.draw<NodeId>();
                said.leader_epoch = numbers_.draw<Epoch>();
                said.leader_remaining = milliseconds(300);
                said.leader_announced = input_.flag();
                return said;
            }
            default: return heartbeat();
        }
    }

    Input& input_;
    const Seen& seen_;
    Numbers numbers_;
};

}  // namespace bullring::fuzz
