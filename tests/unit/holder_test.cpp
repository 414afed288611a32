// The leader (R3): what it counts, what it publishes, and that a lapse is final.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::holder_test {
namespace {

using namespace test;

constexpr Epoch epoch{5001};

NodeFixture leader_of(const Config& config) {
    NodeFixture node(config);
    std::vector<std::uint64_t> peers;
    for (const NodeId id : config.members.ids())
        if (id != config.self) peers.push_back(id.value);
    node.lead(peers);
    return node;
}
NodeFixture leader() { return leader_of(test::config_for(3, {1, 2, 3})); }

/// The end of the lease, as the node has last published it.
Instant published(const Actions& actions) {
    const std::vector<Publish> all = only<Publish>(actions);
    REQUIRE_FALSE(all.empty());
    return all.back().deadline;
}

// R3.7
TEST_CASE("holder: the lease is counted from when the request was sent, not from its answer") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.stand({1});
    const Instant stamp = node.now();
    node.pass(milliseconds(60));
    CHECK(published(node.answer_grant(1)) == stamp + node.timing().campaign_lease);
}

// R4.5
TEST_CASE("holder: asked to untie it renews at once, and says until when that holds") {
    NodeFixture node = leader();
    node.pass(milliseconds(1));
    const Coordinator untied{epoch, node.timing().lease, node.now(), true, false};
    CHECK(sent<Coordinator>(without_heartbeats(node.step(Tying{false}))) ==
          std::vector<Coordinator>{untied, untied});
    const Publish published = only_one<Publish>(node.answer_grant(1));
    CHECK(published.untied_until == published.deadline);
    CHECK(published.untied_until == node.now() + node.timing().lease);
    CHECK(sent<Coordinator>(node.step(Tying{false})).empty());
    node.step(Tying{true});
    const std::vector<Coordinator> tied = sent<Coordinator>(node.after(node.timing().heartbeat));
    REQUIRE(tied.size() == 2);
    CHECK(tied[0].tie);
    const Publish again = only_one<Publish>(node.answer_grant(1));
    CHECK(again.untied_until == published.untied_until);
    CHECK(elapsed(again.untied_until, again.deadline).ns > 0);
}

TEST_CASE("holder: each heartbeat period it renews with all, and its own promise too") {
    NodeFixture node = leader();
    const Coordinator renewal{epoch, node.timing().lease, node.now() + node.timing().heartbeat,
                              true, true};
    const Actions actions = without_heartbeats(node.after(node.timing().heartbeat));
    CHECK(sent<Coordinator>(actions) == std::vector<Coordinator>{renewal, renewal});
    const Actions rival = node.hear(1, node.candidacy(5005));
    CHECK(sent_one<Nack>(rival).promise_holder == NodeId{3});
    CHECK(sent_one<Nack>(rival).remaining == node.timing().promise(node.timing().lease));
}

// R3.9
TEST_CASE("holder: while it leads its published deadline never goes back") {
    NodeFixture node = leader();
    Instant last = long_ago;
    std::vector<Grant> old_grants;
    for (int round = 0; round < 20; ++round) {
        node.after(node.timing().heartbeat);
        old_grants.push_back(node.grant_from(1));
        Actions actions = node.hear(1, old_grants.back());
        // Reordered and repeated answers of earlier rounds.
        test::append(actions, node.hear(1, old_grants.front()));
        test::append(actions, node.hear(1, old_grants[old_grants.size() / 2]));
        for (const Publish& publish : only<Publish>(actions)) {
            CHECK(later(publish.deadline, last) == publish.deadline);
            last = publish.deadline;
        }
    }
    CHECK(node.role() == Role::leader);
}

TEST_CASE("holder: a higher epoch elsewhere does not depose it") {
    NodeFixture node = leader();
    Heartbeat heartbeat = node.heartbeat_from(1);
    heartbeat.max_seen = {5400};
    node.hear(1, heartbeat);
    node.hear(1, node.candidacy(5401));
    node.hear(2, Nack{node.own_incarnation(), epoch, NackReason::stale, nobody, {5500}, {}});
    CHECK(node.role() == Role::leader);
    CHECK(node.view().leader == NodeId{3});
    CHECK(node.view().epoch == epoch);
}

TEST_CASE("holder: a session that comes up while it leads is asked for a renewal at once") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1});
    node.pass(milliseconds(5));
    node.accept(2);
    CHECK(sent<Coordinator>(without_heartbeats(node.dial(2))) ==
          std::vector<Coordinator>{{epoch, node.timing().lease, node.now(), true, true}});
}

// R4.4
TEST_CASE("holder: it asks for untied grants where its task may outlive its sessions") {
    for (const FastRelease fast_release :
         {FastRelease::off, FastRelease::fin, FastRelease::notice}) {
        Config config = test::config_for(3, {1, 2, 3});
        config.fast_release = fast_release;
        config.tie = fast_release != FastRelease::fin;  // one of the two forbids it
        NodeFixture node(config);
        node.stand({1});
        CHECK_FALSE(node.last_request(1)->tie);
        node.answer_grant(1);
        REQUIRE(node.role() == Role::leader);
        CHECK_FALSE(node.last_request(1)->tie);
    }
}

// ---- The lapse.

TEST_CASE("holder: at the end of its lease it unpublishes and ends the task before anything else") {
    NodeFixture node = leader();
    node.pass(node.timing().lease);
    Actions actions = without_heartbeats(node.wake());
    REQUIRE(actions.size() >= 3);
    actions.resize(3);
    CHECK(actions == Actions{Publish{{}, long_ago}, RoleChanged{Role::stepping_down, epoch},
                             StopTask{epoch, DeposedReason::lease_expired}});
}

TEST_CASE("holder: it leads until the last instant of the lease and not a nanosecond longer") {
    NodeFixture node = leader();
    node.after(node.timing().lease - Duration{1});
    CHECK(node.role() == Role::leader);
    node.after(Duration{1});
    CHECK(node.role() != Role::leader);
}

// R3.9
TEST_CASE("holder: a grant that arrives with the lapse does not revive the leadership") {
    NodeFixture node = leader();
    node.pass(node.timing().heartbeat);
    node.wake();
    Grant fresh = node.grant_from(1);
    node.pass(node.timing().lease - node.timing().heartbeat);
    const Actions actions = node.hear(1, fresh);  // would be valid for another heartbeat period
    CHECK(only<StopTask>(actions) == std::vector<StopTask>{{epoch, DeposedReason::lease_expired}});
    fresh.stamp = node.now();
    CHECK(only<Publish>(node.hear(1, fresh)).empty());
    CHECK(node.role() == Role::stepping_down);
    node.step(TaskEnded{epoch});
    REQUIRE(node.role() != Role::leader);
    fresh.stamp = node.now();
    CHECK(only<StartTask>(node.hear(1, fresh)).empty());
    CHECK(node.role() != Role::leader);
}

// R3.9
TEST_CASE("holder: every kind of event finds a lapse first") {
    const std::vector<Event> events{Wake{},
                                    TaskEnded{epoch, true, false},
                                    Stalled{},
                                    ResignRequested{{1}, {Asker::observer, 7}},
                                    HealthChanged{false},
                                    StopRequested{}};
    for (const Event& event : events) {
        NodeFixture node = leader();
        node.pass(node.timing().lease);
        const Actions actions = node.step(event);
        REQUIRE_FALSE(actions.empty());
        CHECK(actions.front() == Action{Publish{{}, long_ago}});
        CHECK(only<StopTask>(actions) ==
              std::vector<StopTask>{{epoch, DeposedReason::lease_expired}});
    }
}

// R3.4
TEST_CASE("holder: a grant of more than was asked, or of a request of the future, is not counted") {
    NodeFixture candidate(test::config_for(3, {1, 2, 3}));
    candidate.stand({1, 2});
    NodeFixture leading = leader();
    leading.pass(leading.timing().heartbeat);
    leading.wake();
    for (NodeFixture* start : {&candidate, &leading}) {
        const Grant sound = start->grant_from(1);
        const auto counted = [&](const Grant& grant) {
            NodeFixture node = *start;
            return !only<Publish>(node.hear(1, grant)).empty();
        };
        CHECK(counted(sound));
        for (const Duration lease :
             {sound.lease + Duration{1}, seconds(3600), forever, Duration{0}, Duration{-1}}) {
            Grant grant = sound;
            grant.lease = lease;
            CHECK_FALSE(counted(grant));
        }
        const Instant now = start->now();
        for (const Instant stamp :
             {now + Duration{1}, Instant{now.boottime_ns + 1, now.raw_ns},
              Instant{now.boottime_ns, now.raw_ns + 1}, now + seconds(3600), never}) {
            Grant grant = sound;
            grant.stamp = stamp;
            CHECK_FALSE(counted(grant));
        }
    }
}

// ---- kill_margin: the task counts as lost before the lease ends.

Config with_margin() {
    Config config = test::config_for(3, {1, 2, 3});
    config.timing.kill_margin = milliseconds(260);  // more than L_c: published by the first renewal
    return config;
}

// R3.8
TEST_CASE("holder: it publishes and starts the task only when more than the margin is left") {
    NodeFixture node(with_margin());
    node.stand({1, 2});
    const Actions elected = node.answer_grant(1);
    CHECK(only<RoleChanged>(elected) == std::vector<RoleChanged>{{Role::leader, epoch}});
    CHECK(only<Publish>(elected).empty());
    CHECK(only<StartTask>(elected).empty());
    const Actions renewed = node.answer_grant(1);
    CHECK(only<Publish>(renewed) ==
          std::vector<Publish>{{epoch, node.now() + node.timing().lease}});
    CHECK(only<StartTask>(renewed) == std::vector<StartTask>{{epoch}});
}

// R3.9
TEST_CASE("holder: with a margin the leadership ends that much before the lease") {
    NodeFixture node = leader_of(with_margin());
    const Duration usable = node.timing().lease - node.timing().kill_margin;
    node.after(usable - Duration{1});
    CHECK(node.role() == Role::leader);
    CHECK(only<StopTask>(node.after(Duration{1})) ==
          std::vector<StopTask>{{epoch, DeposedReason::lease_expired}});
}

TEST_CASE("holder: the task is stopped in time although the clock of the timer runs slow") {
    for (const Duration margin : {Duration{0}, milliseconds(100), milliseconds(271)}) {
        Config config = test::config_for(3, {1, 2, 3});
        config.timing.kill_margin = margin;
        // The end alone is waited for, and no heartbeat comes in between.
        config.timing.heartbeat = seconds(10);
        NodeFixture node = leader_of(config);
        const Instant end = node.now() + node.timing().lease - margin;
        Actions actions;
        while (only<StopTask>(actions).empty()) {
            const Duration sleep = node.node().until_wake(node.now());
            node.set_clock(
                {node.now().boottime_ns + sleep.ns, node.now().raw_ns + sleep.ns + sleep.ns / 11});
            actions = node.wake();
        }
        CHECK(lease_left(node.now(), end) >= Duration{-25'000});
    }
}

TEST_CASE("holder: one whose renewals are never granted leaves without having led") {
    NodeFixture node(with_margin());
    node.stand({1, 2});
    node.answer_grant(1);
    const Actions actions = node.run(node.timing().campaign_lease);
    CHECK(only<StartTask>(actions).empty());
    CHECK(only<StopTask>(actions).empty());
    CHECK(only<Deposed>(actions).empty());
    CHECK_FALSE(sent<Resign>(actions).empty());
}

}  // namespace
}  // namespace bullring::protocol::holder_test
