// Nodes without work (R5.15 to R5.17, H2.5) let those lead that are asked for it.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::work_test {
namespace {

using namespace test;

constexpr Epoch epoch{5001};

Heartbeat saying(const NodeFixture& node, std::uint64_t peer, Work work) {
    Heartbeat heartbeat = node.heartbeat_from(peer);
    heartbeat.work = work;
    heartbeat.quorum_age = seconds(5);
    return heartbeat;
}

/// Node 3, which nobody asks for the leadership, leads; the others hear what it says.
NodeFixture leads_in_name() {
    Config config = config_for(3, {1, 2, 3});
    config.preempt = false;
    NodeFixture node(config);
    node.disk_answers(true);
    node.step(WorkChanged{Work::none});
    node.lead({1, 2});
    return node;
}

std::vector<Resign> resigned(const Actions& actions) { return sent<Resign>(actions); }

/// It hands over in this step; nothing works here, so its host answers at once.
Actions with_its_end(NodeFixture& node, const Actions& before) {
    Actions all = before;
    for (const StopTask& stop : only<StopTask>(before))
        for (const Action& action : node.step(TaskEnded{stop.epoch})) all.push_back(action);
    return all;
}

TEST_CASE("work: a node says what it would lead for (R5.15)") {
    NodeFixture node = leads_in_name();
    for (const Work work : {Work::asked, Work::none, Work::own}) {
        Actions said = node.step(WorkChanged{work});
        for (const Action& action : node.run_granted(node.timing().heartbeat))
            said.push_back(action);
        bool told = false;
        for (const Heartbeat& heartbeat : sent<Heartbeat>(said)) told |= heartbeat.work == work;
        for (const Coordinator& request : sent<Coordinator>(said))
            told |= request.heartbeat && request.heartbeat->work == work;
        CHECK_MESSAGE(told, name(work));
    }
}

TEST_CASE("work: a leader is found where the process says that works there (H1.5)") {
    NodeFixture node = leads_in_name();
    const Actions asked = node.step(WorkChanged{Work::asked, "here:80"});
    REQUIRE(only<LeaderChanged>(asked).size() == 1);
    CHECK(only<LeaderChanged>(asked)[0] == LeaderChanged{{3}, epoch, "here:80", false, node.now()});
    CHECK(node.view().advertised == "here:80");
    CHECK(only<LeaderChanged>(node.run_granted(seconds(1))).empty());
    // Of another one, by what it says.
    Heartbeat heartbeat = saying(node, 1, Work::asked);
    heartbeat.advertised = "there:80";
    node.hear(1, heartbeat);
    node.step(ResignRequested{{1}, {}});
    node.step(TaskEnded{epoch});
    const Actions next = node.hear(1, node.renewal(epoch.value + 1));
    REQUIRE(only<LeaderChanged>(next).size() == 1);
    CHECK(only<LeaderChanged>(next)[0].advertised == "there:80");
}

TEST_CASE("work: whoever leads for nobody hands over at once to one that is asked (R5.16)") {
    NodeFixture node = leads_in_name();
    node.says(1, saying(node, 1, Work::asked));
    const Actions actions = with_its_end(node, node.run_granted(node.timing().heartbeat * 2));
    CHECK(resigned(actions) == std::vector<Resign>{{epoch, {1}}, {epoch, {1}}});
    CHECK(only<Deposed>(actions).at(0).reason == DeposedReason::preempted);
    SUBCASE("and does not stand while that one is there") {
        node.run(node.timing().reservation() + seconds(1));
        CHECK_FALSE(node.view().eligible);
    }
    SUBCASE("but when it has gone") {
        node.lose(1);
        node.says(2, saying(node, 2, Work::none));
        node.run(node.timing().reservation() + seconds(1));
        CHECK(node.view().eligible);
    }
}

TEST_CASE("work: one that leads for somebody, or is asked itself, stays (R5.16)") {
    NodeFixture node = leads_in_name();
    SUBCASE("it has work of its own") { node.step(WorkChanged{Work::own}); }
    SUBCASE("it is asked") { node.step(WorkChanged{Work::asked}); }
    node.says(1, saying(node, 1, Work::asked));
    node.run_granted(seconds(1));
    CHECK(node.role() == Role::leader);
}

TEST_CASE("work: one that could not lead is not waited for (R5.16)") {
    NodeFixture node = leads_in_name();
    Heartbeat heartbeat = saying(node, 1, Work::asked);
    SUBCASE("it does not stand") { heartbeat.eligible = false; }
    SUBCASE("it has no majority") { heartbeat.quorum_connected = false; }
    SUBCASE("it has work of its own") { heartbeat.work = Work::own; }
    node.says(1, heartbeat);
    node.run_granted(seconds(1));
    CHECK(node.role() == Role::leader);
    CHECK(node.view().eligible);
}

TEST_CASE("work: the successor is one with work, if there is any (R5.17)") {
    NodeFixture node = leads_in_name();
    node.step(WorkChanged{Work::own});
    node.says(2, saying(node, 2, Work::none));
    SUBCASE("the lower one has some") {
        node.says(1, saying(node, 1, Work::own));
        node.run_granted(node.timing().heartbeat);
        const Actions actions = with_its_end(node, node.step(ResignRequested{}));
        CHECK(resigned(actions).at(0).successor == NodeId{1});
    }
    SUBCASE("nobody has any") {
        node.says(1, saying(node, 1, Work::none));
        node.run_granted(node.timing().heartbeat);
        const Actions actions = with_its_end(node, node.step(ResignRequested{}));
        CHECK(resigned(actions).at(0).successor == NodeId{2});
    }
}

TEST_CASE("work: a node whose task has ended and that is still asked takes over itself (R5.17)") {
    NodeFixture node = leads_in_name();
    node.step(WorkChanged{Work::asked});
    for (const std::uint64_t peer : {1U, 2U}) node.says(peer, saying(node, peer, Work::none));
    node.run_granted(node.timing().heartbeat);
    const Actions actions = node.step(TaskEnded{epoch, true, false});
    CHECK(resigned(actions).at(0).successor == NodeId{3});
    const std::vector<Coordinator> requests = sent<Coordinator>(actions);
    CHECK(std::any_of(requests.begin(), requests.end(), [](const Coordinator& request) {
        return request.epoch > epoch && !request.renew;
    }));
}

// ---- H2.5: the file says that somebody may outlive this run.

TEST_CASE("work: a user can't hand over to one without work from one that is asked (R5.12)") {
    for (const bool named : {false, true}) {
        NodeFixture node = leads_in_name();
        // They have not heard yet that this node is asked.
        node.says(1, saying(node, 1, Work::none));
        node.says(2, saying(node, 2, Work::none));
        node.run_granted(node.timing().heartbeat * 2);
        node.step(WorkChanged{Work::asked});
        const ResignRequested request{named ? NodeId{2} : nobody, {Asker::host, 7}};
        const Actions refused = node.step(request);
        REQUIRE(only<ResignAnswer>(refused).size() == 1);
        CHECK_FALSE(only<ResignAnswer>(refused).front().done);
        CHECK(only<StopTask>(refused).empty());
        node.step(WorkChanged{Work::own});
        CHECK(only<StopTask>(node.step(request)).size() == 1);
    }
}

TEST_CASE("work: a lease is one to work under once the disk knows of it (H2.5)") {
    NodeFixture node = leads_in_name();
    node.disk_answers(false);
    const auto known = [&](const Actions& actions) {
        bool last = false;
        for (const Publish& publish : only<Publish>(actions)) last = publish.may_be_outlived;
        return last;
    };
    const Actions asked = node.step(WorkChanged{Work::asked});
    REQUIRE(only<Persist>(asked).size() == 1);
    CHECK(only<Persist>(asked)[0].durable.hooks);
    // No vote, and no renewal, waits for that.
    const Actions before = node.run_granted(node.timing().lease * 2);
    CHECK(node.role() == Role::leader);
    CHECK_FALSE(known(before));
    node.persisted();
    Actions after;
    for (const std::uint64_t peer : {1U, 2U})
        for (const Action& action : node.answer_grant(peer)) after.push_back(action);
    CHECK(known(after));
    SUBCASE("until nobody is asked any more") {
        const Actions over = node.step(WorkChanged{Work::none});
        REQUIRE(only<Persist>(over).size() == 1);
        CHECK_FALSE(only<Persist>(over)[0].durable.hooks);
    }
    SUBCASE("or the node has stopped in order") {
        Actions over = with_its_end(node, node.step(StopRequested{}));
        REQUIRE_FALSE(only<Persist>(over).empty());
        CHECK_FALSE(only<Persist>(over).back().durable.hooks);
    }
}

}  // namespace
}  // namespace bullring::protocol::work_test
