// Tests the effect of one message on a node. In every role, every number of every message is
// replaced by extreme ones, field by field as protocol/values/fields.hpp finds them, so that none
// is forgotten. In every case only what an election can need becomes durable, no lease is longer
// than was asked for, and P(lease-max) later the sound nodes elect a leader, by this node's vote or
// by its candidacy.
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "protocol/values/fields.hpp"
#include "protocol/values/names.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::hostile_message_test {
namespace {

using namespace test;

constexpr std::uint64_t self = 3;
constexpr std::uint64_t liar = 1;
constexpr std::uint64_t sound = 2;
/// The highest epoch to which a message may raise one (PROTOCOL §5), and the reserves on top of it.
constexpr Epoch highest_epoch{(std::uint64_t{1} << 54U) + (std::uint64_t{1} << 20U) + 4096};

// ---- Every number of a message.

template <class T, class... Ts>
inline constexpr bool one_of = (std::is_same_v<T, Ts> || ...);
template <class T>
inline constexpr bool is_number =
    std::is_arithmetic_v<T> || std::is_enum_v<T> ||
    one_of<T, NodeId, Incarnation, Epoch, SessionId, Priority, Duration, Instant, MemberSet>;

struct Extremes {
    Instant now;
    Timing timing;

    template <class T>
    std::vector<T> of() const {
        constexpr std::uint64_t one = 1;
        if constexpr (std::is_same_v<T, Epoch>)
            return {{0},          {1},
                    {5000},       {5001},
                    {6025},       {one << 51U},
                    {one << 54U}, {(one << 54U) + (one << 20U) + 1},
                    {one << 60U}, {(one << 62U) - 1},
                    {one << 62U}, {INT64_MAX}};
        else if constexpr (std::is_same_v<T, Duration>)
            return {{0},
                    {1},
                    timing.campaign_lease,
                    timing.lease,
                    timing.lease_max,
                    timing.lease_max + Duration{1},
                    seconds(3600),
                    forever};
        else if constexpr (std::is_same_v<T, Instant>)
            return {long_ago,
                    now - seconds(1),
                    now + Duration{1},
                    {now.boottime_ns + seconds(3600).ns, now.raw_ns},
                    {now.boottime_ns, now.raw_ns + seconds(3600).ns},
                    now + seconds(3600),
                    never};
        else if constexpr (std::is_same_v<T, NodeId>)
            return {{0}, {1}, {2}, {3}, {9}, {INT64_MAX}};
        else if constexpr (std::is_same_v<T, Priority>)
            return {{-1000}, {1000}, Priority::never()};
        else if constexpr (std::is_same_v<T, MemberSet>)
            return {MemberSet(0), MemberSet(~std::uint64_t{0})};
        else if constexpr (std::is_same_v<T, NackReason>)
            return enumerators<NackReason>();
        else if constexpr (std::is_enum_v<T>)
            return {static_cast<T>(1), static_cast<T>(2)};
        else if constexpr (std::is_same_v<T, bool>)
            return {false, true};
        else if constexpr (std::is_same_v<T, Index>)
            return {0, 2, 63};
        else if constexpr (std::is_arithmetic_v<T>)
            return {0, 1, std::numeric_limits<T>::max()};
        else
            return {{0}, {1}, {UINT64_MAX}};
    }
};

/// Puts the k-th extreme value of all fields, counted through, into its field.
class Forgery {
public:
    Forgery(const Extremes& extremes, std::size_t k) : extremes_(extremes), left_(k) {}

    template <class T>
    requires is_number<T>
    void take(const T& field) {
        const std::vector<T> values = extremes_.of<T>();
        if (!done_ && left_ < values.size()) {
            // The message that is taken apart is one that this test has made.
            const_cast<T&>(field) = values[left_];  // NOLINT
            done_ = true;
        }
        if (!done_) left_ -= values.size();
    }
    void word(std::uint64_t /*size*/) {}
    /// All that has the list shares it; its tag stands beside it, too.
    void take(const Membership& /*list*/) {}
    bool done() const { return done_; }

private:
    const Extremes& extremes_;
    std::size_t left_;
    bool done_ = false;
};

/// All messages that differ from this one in one number.
std::vector<Message> forged(const Message& message, const Extremes& extremes) {
    std::vector<Message> all;
    for (std::size_t k = 0;; ++k) {
        Message copy = message;
        Forgery forgery(extremes, k);
        std::visit([&](const auto& m) { take_apart(m, forgery); }, copy);
        if (!forgery.done()) return all;
        all.push_back(std::move(copy));
    }
}

// ---- A node in each condition, with a sound peer 2 and a peer 1 that lies once.

enum class Condition { voter, candidate, leader, stepping_down, recovering, no_file };
constexpr Condition conditions[] = {Condition::voter,      Condition::candidate,
                                    Condition::leader,     Condition::stepping_down,
                                    Condition::recovering, Condition::no_file};
const char* name(Condition condition) {
    constexpr const char* names[] = {"voter",         "candidate",  "leader",
                                     "stepping_down", "recovering", "no_file"};
    return names[static_cast<int>(condition)];
}

/// Plays the host and the sound peer: disks and tasks answer, lost sessions are dialled again, and
/// what comes to peer 2 it answers as it should.
class Cluster {
public:
    Cluster(const Config& config, const Start& start) : node(config, start) {
        node.disk_answers(true);
    }

    Actions take(const Actions& actions) {
        Actions all = actions;
        check(actions);
        for (const StopTask& stop : only<StopTask>(actions))
            test::append(all, take(node.step(TaskEnded{stop.epoch})));
        for (const CloseSession& closed : only<CloseSession>(actions))
            if (closed.session == node.dialled(sound)) test::append(all, take(node.dial(sound)));
        for (const Send& send : only<Send>(actions)) {
            if (send.session != node.dialled(sound)) continue;
            if (const auto* token = std::get_if<Token>(&send.message))
                test::append(all, take(bring_home(*token)));
            if (const auto* token = std::get_if<CoordinatorToken>(&send.message))
                test::append(all, take(bring_home(*token)));
        }
        return all;
    }

    Actions connect(std::uint64_t peer) { return take(node.connect(peer)); }

    /// Peer 2 is heard and grants what it is asked for.
    Actions run_granted(Duration duration) {
        Actions all;
        for (; duration.ns > 0; duration = duration - node.timing().heartbeat) {
            node.pass(node.timing().heartbeat);
            test::append(all, take(node.hear_heartbeat(sound)));
            test::append(all, take(node.wake()));
            if (node.last_request(sound)) test::append(all, take(node.answer_grant(sound)));
        }
        return all;
    }

    void check(const Actions& actions) const {
        for (const Persist& persist : only<Persist>(actions)) {
            CHECK(persist.durable.hw <= highest_epoch);
            CHECK(persist.durable.promised_max <= node.timing().promise(node.timing().lease_max));
        }
        for (const Publish& publish : only<Publish>(actions)) {
            const Instant latest = node.now() + node.timing().lease;
            CHECK(publish.deadline.boottime_ns <= latest.boottime_ns);
            CHECK(publish.deadline.raw_ns <= latest.raw_ns);
        }
        for (const Coordinator& request : sent<Coordinator>(actions))
            CHECK(request.epoch <= highest_epoch);
    }

    NodeFixture node;

private:
    Actions bring_home(Token token) {
        if (token.walk.owner != NodeId{self}) return {};
        token.walk.step += 1;
        token.walk.visited.insert(1);
        return node.hear(sound, token);
    }
    Actions bring_home(CoordinatorToken token) {
        if (token.walk.owner != NodeId{self}) return {};
        CHECK(token.request.epoch <= highest_epoch);
        token.walk.step += 1;
        token.walk.visited.insert(1);
        token.grants.push_back({{sound}, node.incarnation_of(sound), no_session});
        return node.hear(sound, token);
    }
};

Cluster cluster_in(Condition condition, Algorithm algorithm) {
    Config config = test::config_for(self, {1, 2, 3}, algorithm);
    if (condition == Condition::voter) config.priority = Priority::never();
    Cluster cluster(config, condition == Condition::no_file ? test::start_without_file(config)
                                                            : test::start_with_file(config));
    NodeFixture& node = cluster.node;
    const bool silent = condition == Condition::recovering || condition == Condition::no_file;
    if (!silent) node.recover();
    node.connect(liar);
    if (condition == Condition::candidate) {
        node.connect(sound);  // which does not answer yet
        if (algorithm == Algorithm::bully) REQUIRE(node.role() == Role::candidate);
        return cluster;
    }
    cluster.connect(sound);
    if (condition == Condition::leader || condition == Condition::stepping_down) {
        cluster.run_granted(milliseconds(200));
        REQUIRE(node.role() == Role::leader);
    }
    if (condition == Condition::stepping_down) {
        node.step(ResignRequested{{sound}, {}});
        REQUIRE(node.role() == Role::stepping_down);
    }
    return cluster;
}

Walk walk_of(NodeFixture& node, std::uint64_t owner) {
    Walk walk;
    walk.owner = {owner};
    walk.owner_incarnation = owner == self ? node.own_incarnation() : node.incarnation_of(owner);
    walk.round = 1;
    walk.step = 5;
    walk.visited.insert(0);
    walk.path = {0};
    return walk;
}

/// At least one of each type, such as a sound peer 1 could send it.
std::vector<Message> sound_messages(NodeFixture& node) {
    const Epoch epoch = node.node().parts().epoch();
    const Duration lease = node.timing().lease;
    Heartbeat heartbeat = node.heartbeat_from(liar);
    heartbeat.leader = {sound};
    heartbeat.leader_epoch = {5000};
    heartbeat.leader_announced = true;
    heartbeat.leader_remaining = milliseconds(300);
    const Coordinator candidacy{{5100}, node.timing().campaign_lease, node.now(), false, true};
    const Coordinator renewal{{5000}, lease, node.now(), true, true};
    const Coordinator own{epoch, node.timing().campaign_lease, node.now(), false, false};
    const TokenGrant granted{{liar}, node.incarnation_of(liar), no_session};
    const TokenNack stale{{liar}, NackReason::stale, {sound}, {5000}, milliseconds(100)};
    const auto nack = [&](NackReason reason) {
        return Nack{node.own_incarnation(), epoch, reason, {sound}, {5000},
                    milliseconds(100),      true};
    };
    return {node.hello_from(liar).hello,
            node.ack_from(liar),
            Refused{"id", "1", "2"},
            heartbeat,
            Election{1},
            Ok{1},
            Decline{1},
            LeaderIs{1, {sound}, {5000}, milliseconds(300)},
            candidacy,
            renewal,
            Grant{node.own_incarnation(), epoch, lease, node.now(), no_session,
                  node.incarnation_of(liar)},
            Grant{node.own_incarnation(), epoch, node.timing().campaign_lease, node.now(),
                  node.dialled(liar), node.incarnation_of(liar)},
            nack(NackReason::busy),
            nack(NackReason::stale),
            Resign{{5000}, {sound}},
            Token{walk_of(node, liar), {}, {5000}},
            Token{walk_of(node, sound), {}, {5000}},
            Token{walk_of(node, self), {}, {5000}},
            TokenAck{{self}, node.own_incarnation(), 1, 5},
            CoordinatorToken{walk_of(node, liar), candidacy, {}, {}},
            CoordinatorToken{walk_of(node, self), own, {granted}, {}},
            CoordinatorToken{walk_of(node, self), own, {}, {stale}}};
}

Actions deliver(NodeFixture& node, const Message& message) {
    if (const auto* hello = std::get_if<Hello>(&message)) {
        HelloReceived received = node.hello_from(liar);
        received.hello = *hello;
        return node.step(received);
    }
    if (const auto* ack = std::get_if<HelloAck>(&message)) return node.dial(liar, *ack);
    return node.hear(liar, message);
}

// ---- What must be possible afterwards.

/// Peer 2 is elected by this node: it asks as a sound candidate does, above what it is told.
bool votes_for_the_sound(Cluster& cluster) {
    NodeFixture& node = cluster.node;
    const bool ring = node.config().algorithm == Algorithm::ring;
    Epoch epoch{6000};
    for (std::uint64_t attempt = 0; attempt < 8; ++attempt) {
        node.hear_heartbeat(sound);
        const Coordinator request{epoch, node.timing().campaign_lease, node.now(), false, true};
        const CoordinatorToken token{node.walk_from(sound, {1}, 1, 1 + attempt), request, {}, {}};
        const Actions actions = ring ? node.hear(sound, token) : node.hear(sound, request);
        cluster.check(actions);
        if (!sent<Grant>(actions).empty()) return true;
        for (const Nack& nack : sent<Nack>(actions))
            if (nack.reason == NackReason::stale) epoch = nack.promised_epoch + 1;
        for (const CoordinatorToken& onward : sent<CoordinatorToken>(actions)) {
            if (!onward.grants.empty()) return true;
            for (const TokenNack& nack : onward.nacks)
                if (nack.reason == NackReason::stale) epoch = nack.promised_epoch + 1;
        }
        if (epoch > highest_epoch) return false;
        node.after(node.timing().campaign_wait);
    }
    return false;
}

bool leads_by_the_sound(Cluster& cluster) {
    const Duration patience = cluster.node.config().bootstrap_wait + seconds(6);
    for (Duration waited{0}; waited < patience; waited = waited + milliseconds(50)) {
        cluster.run_granted(milliseconds(50));
        if (cluster.node.role() == Role::leader) return true;
    }
    return false;
}

void check_recovers(Cluster cluster, Condition condition) {
    NodeFixture& node = cluster.node;
    // The liar is not heard of any more, and P(lease-max) later nothing that it said binds anybody.
    node.lose(liar, SessionEnd::reset);
    cluster.take(node.step(SessionEnded{node.dialled(liar), SessionEnd::reset}));
    cluster.take(node.after(node.timing().promise(node.timing().lease_max)));
    if (condition == Condition::stepping_down)
        cluster.take(node.step(TaskEnded{node.node().parts().epoch()}));
    // C8.1: one of three is too few to tell a node without a file that the list was never changed.
    if (condition == Condition::no_file)
        for (const std::uint64_t peer : {liar, sound}) cluster.connect(peer);
    cluster.take(node.wake());
    // Where it has waited for longer it asks them again only now (R6.12).
    if (condition == Condition::no_file)
        for (const std::uint64_t peer : {liar, sound}) cluster.connect(peer);
    if (condition == Condition::voter)
        CHECK(votes_for_the_sound(cluster));
    else
        CHECK(leads_by_the_sound(cluster));
}

TEST_CASE("hostile: the messages that are forged below are of every type") {
    Cluster cluster = cluster_in(Condition::voter, Algorithm::bully);
    std::vector<bool> seen(std::variant_size_v<Message>);
    for (const Message& message : sound_messages(cluster.node)) seen[message.index()] = true;
    CHECK(std::all_of(seen.begin(), seen.end(), [](bool type) { return type; }));
}

TEST_CASE("hostile: a forgery reaches every number, and each once with every value") {
    Cluster cluster = cluster_in(Condition::voter, Algorithm::bully);
    const Extremes extremes{cluster.node.now(), cluster.node.timing()};
    // COORDINATOR: epoch 12, lease 8, stamp 7, two flags; the tag's epoch 12, and its number 3;
    // one flag.
    const Coordinator request{{5100}, milliseconds(1), cluster.node.now(), false, true};
    CHECK(forged(request, extremes).size() == 12 + 8 + 7 + 2 + 2 + 12 + 3 + 2);
}

// R9.1, R9.2, R9.3
TEST_CASE(
    "hostile: no number of any message makes nonsense durable, a lease longer, or the cluster "
    "stuck") {
    for (const Algorithm algorithm : {Algorithm::bully, Algorithm::ring})
        for (const Condition condition : conditions) {
            const Cluster start = cluster_in(condition, algorithm);
            Cluster script = start;
            const Extremes extremes{script.node.now(), script.node.timing()};
            for (const Message& message : sound_messages(script.node))
                for (const Message& said : forged(message, extremes)) {
                    CAPTURE(algorithm == Algorithm::bully);
                    CAPTURE(std::string(name(condition)));
                    CAPTURE(test::text(said));
                    Cluster cluster = start;
                    cluster.take(deliver(cluster.node, said));
                    check_recovers(cluster, condition);
                }
        }
}

}  // namespace
}  // namespace bullring::protocol::hostile_message_test
