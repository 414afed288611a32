// One node with a scripted clock and scripted peers: tests feed it events and compare the actions
// that come out. Owns the peers' side of the handshakes; must never look into the node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "protocol/node.hpp"

namespace bullring::test {

using Actions = std::vector<protocol::Action>;

/// Of all nodes here, as of a cluster that has had a leader.
inline constexpr protocol::ClusterId cluster_id{0xC1};

/// `self` among `ids`, with the timing of the profile lan and what is usual otherwise.
protocol::Config config_for(std::uint64_t self, std::vector<std::uint64_t> ids,
                            protocol::Algorithm algorithm = protocol::Algorithm::bully);
/// A start with a state file: hw 5000, and promises as long as its own lease asks for.
protocol::Start start_with_file(const protocol::Config& config);
protocol::Start start_without_file(const protocol::Config& config);

class NodeFixture {
public:
    explicit NodeFixture(const protocol::Config& config);
    NodeFixture(const protocol::Config& config, const protocol::Start& start);

    const protocol::Config& config() const { return config_; }
    const protocol::Timing& timing() const { return config_.timing; }
    const protocol::Node& node() const { return node_; }
    protocol::View view() const { return node_.view(now_); }
    protocol::Role role() const { return view().role; }

    // ---- Time. Both clocks start at odd values and move together unless a test sets them.
    protocol::Instant now() const { return now_; }
    void pass(protocol::Duration duration) { now_ = now_ + duration; }
    void set_clock(protocol::Instant now) { now_ = now; }
    Actions after(protocol::Duration duration);  // passes, then wakes
    /// Passes in steps of the heartbeat; every connected peer is heard in each of them.
    Actions run(protocol::Duration duration);
    /// The same, and every one of them grants what it was asked for last.
    Actions run_granted(protocol::Duration duration);

    // ---- Events.
    Actions step(const protocol::Event& event);
    Actions wake() { return step(protocol::Wake{}); }
    /// Answers the last Persist; with `disk_answers` each is answered at once.
    Actions persisted();
    void disk_answers(bool at_once) { disk_answers_ = at_once; }

    /// Peers say that id of the cluster from now on.
    void peers_know(protocol::ClusterId id) { cluster_id_ = id; }

    // ---- Peers. What they say is what healthy peers of a full mesh say, unless a test changes it.
    protocol::Incarnation own_incarnation() const { return incarnation_; }
    protocol::Incarnation incarnation_of(std::uint64_t peer);
    void new_incarnation(std::uint64_t peer);
    protocol::HolderKey key_of(std::uint64_t peer) { return {{peer}, incarnation_of(peer)}; }
    protocol::HelloReceived hello_from(std::uint64_t peer);  // on the next accepted session
    protocol::HelloAck ack_from(std::uint64_t peer);
    protocol::Heartbeat heartbeat_from(std::uint64_t peer) const;
    /// The heartbeat that run() makes this peer say from now on.
    void says(std::uint64_t peer, const protocol::Heartbeat& heartbeat);

    Actions accept(const protocol::HelloReceived& hello);  // a session from the peer
    Actions accept(std::uint64_t peer) { return accept(hello_from(peer)); }
    Actions dial(std::uint64_t peer, const protocol::HelloAck& ack);  // a session to the peer
    Actions dial(std::uint64_t peer) { return dial(peer, ack_from(peer)); }
    Actions connect(std::uint64_t peer);                                 // both, and its heartbeat
    Actions hear(std::uint64_t peer, const protocol::Message& message);  // on its newest session
    Actions hear_heartbeat(std::uint64_t peer);
    Actions answer_grant(std::uint64_t peer);  // to the last COORDINATOR that was sent to it
    protocol::Grant grant_from(std::uint64_t peer);
    /// A token's way from its owner, by these members' indices.
    protocol::Walk walk_from(std::uint64_t owner, std::vector<protocol::Index> path,
                             std::uint32_t step = 1, std::uint64_t round = 1);
    Actions lose(std::uint64_t peer,
                 protocol::SessionEnd how = protocol::SessionEnd::eof);  // its newest session

    /// The requests of a candidate and of a leader now, with the usual lease of each.
    protocol::Coordinator candidacy(std::uint64_t epoch) const {
        return {{epoch}, timing().campaign_lease, now_, false, true};
    }
    protocol::Coordinator renewal(std::uint64_t epoch) const {
        return {{epoch}, timing().lease, now_, true, true};
    }

    protocol::SessionId accepted(std::uint64_t peer) const;  // its newest
    protocol::SessionId dialled(std::uint64_t peer) const;   // the newest to it
    std::optional<protocol::Coordinator> last_request(std::uint64_t peer) const;

    // ---- Where many tests begin.
    void recover();                                       // the silence is over
    void stand(const std::vector<std::uint64_t>& peers);  // recovered, connected, a candidate
    void lead(const std::vector<std::uint64_t>& peers);   // and elected by the first of them

private:
    struct PeerScript {
        std::uint64_t runs = 0;
        std::uint64_t accepted = 0;  // how many sessions so far
        std::uint64_t dialled = 0;
        bool heard = false;
        std::optional<protocol::Heartbeat> heartbeat;
        std::optional<protocol::Coordinator> request;
    };
    Actions run(protocol::Duration duration, bool granted);
    void note(const Actions& actions);

    protocol::Config config_;
    protocol::Incarnation incarnation_;
    protocol::Instant now_;
    protocol::Node node_;
    std::map<std::uint64_t, PeerScript> peers_;
    std::optional<protocol::Durable> to_disk_;
    bool disk_answers_ = false;
    protocol::ClusterId cluster_id_ = cluster_id;
};

/// Without the heartbeats, which are sent to all at nearly every step, by themselves or in others.
Actions without_heartbeats(const Actions& actions);

template <class A>
std::vector<A> only(const Actions& actions) {
    std::vector<A> found;
    for (const protocol::Action& action : actions)
        if (const auto* match = std::get_if<A>(&action)) found.push_back(*match);
    return found;
}

/// The messages of one type that were sent, to whomever.
template <class M>
std::vector<M> sent(const Actions& actions) {
    std::vector<M> found;
    for (const protocol::Send& send : only<protocol::Send>(actions))
        if (const auto* match = std::get_if<M>(&send.message)) found.push_back(*match);
    return found;
}

/// The only one of its kind; the test fails if there are others, or none.
template <class A>
A only_one(const Actions& actions) {
    const std::vector<A> found = only<A>(actions);
    REQUIRE(found.size() == 1);
    return found[0];
}
template <class M>
M sent_one(const Actions& actions) {
    const std::vector<M> found = sent<M>(actions);
    REQUIRE(found.size() == 1);
    return found[0];
}

void append(Actions& to, const Actions& more);

std::string text(const protocol::Message& message);
std::string text(const protocol::Action& action);

}  // namespace bullring::test

namespace doctest {

template <>
struct StringMaker<bullring::test::Actions> {
    static String convert(const bullring::test::Actions& actions);
};
template <>
struct StringMaker<bullring::protocol::NodeId> {
    static String convert(bullring::protocol::NodeId id) { return toString(id.value); }
};
template <>
struct StringMaker<bullring::protocol::Epoch> {
    static String convert(bullring::protocol::Epoch epoch) { return toString(epoch.value); }
};
template <>
struct StringMaker<bullring::protocol::Duration> {
    static String convert(bullring::protocol::Duration duration) { return toString(duration.ns); }
};
template <>
struct StringMaker<bullring::protocol::Role> {
    static String convert(bullring::protocol::Role role) { return name(role); }
};

}  // namespace doctest
