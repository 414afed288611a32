// Members that call from another address than their entry's (PROTOCOL C13).
#include "protocol/membership/callers.hpp"

#include <doctest/doctest.h>

#include "protocol/values/member_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::callers_test {
namespace {

using namespace test;
using What = MemberChange::What;

constexpr DirectoryId of_2{0xD2};

/// Of the voters 1 to 3 and 4, which has no vote.
Config one_of_four(std::uint64_t self = 1) {
    Config config = test::config_for(self, {1, 2, 3});
    std::vector<MemberEntry> entries;
    for (const std::uint64_t id : {1U, 2U, 3U, 4U})
        entries.push_back(
            {{id}, static_cast<Index>(id - 1), id != 4, "h" + std::to_string(id) + ":1"});
    config.members = Membership(Tag{{5000}, 1}, entries, {{1}, {2}, {3}});
    return config;
}

NodeFixture started(const Config& config = one_of_four()) {
    NodeFixture node(config);
    node.disk_answers(true);
    node.recover();
    return node;
}

/// Node `peer` says HELLO from elsewhere, out of that directory: where it is dialled, too.
std::string dialled_also_at(NodeFixture& node, std::uint64_t peer, DirectoryId directory) {
    HelloReceived hello = node.hello_from(peer);
    hello.hello.directory = directory;
    hello.hello.listens = "elsewhere:1";
    std::string found;
    for (const DialNow& dial : only<DialNow>(node.accept(hello))) {
        CHECK(dial.peer == NodeId{peer});
        found += dial.calls_from;
    }
    return found;
}

/// The process with that directory is met: it says HELLO, and answers at its entry's address.
void meet(NodeFixture& node, std::uint64_t peer, DirectoryId directory) {
    HelloReceived hello = node.hello_from(peer);
    hello.hello.directory = directory;
    node.accept(hello);
    node.dial(peer);
    node.wake();
}

void restart_elsewhere(NodeFixture& node, std::uint64_t peer) {
    node.lose(peer);
    node.new_incarnation(peer);
}

}  // namespace

TEST_CASE("callers: the address that is said is completed by the one that is seen") {
    CHECK(calls_from("10.0.0.1:7100", "10.0.0.9:4711") == "10.0.0.1:7100");
    CHECK(calls_from(":7100", "10.0.0.9:4711") == "10.0.0.9:7100");
    CHECK(calls_from(":7100", "[fd00::9]:4711") == "[fd00::9]:7100");
    CHECK(calls_from("", "10.0.0.9:4711").empty());
}

// C13.1
TEST_CASE("callers: a voter is dialled where it calls from by the directory that was met alone") {
    NodeFixture node = started();
    SUBCASE("nobody was met") { CHECK(dialled_also_at(node, 2, of_2).empty()); }
    SUBCASE("it was met") {
        meet(node, 2, of_2);
        restart_elsewhere(node, 2);
        CHECK(dialled_also_at(node, 2, of_2) == "elsewhere:1");
    }
    SUBCASE("another directory") {
        meet(node, 2, of_2);
        restart_elsewhere(node, 2);
        CHECK(dialled_also_at(node, 2, {0xD3}).empty());
        // The directory of another member is not its own.
        CHECK(dialled_also_at(node, 3, of_2).empty());
    }
    SUBCASE("no directory yet") {
        meet(node, 2, {});
        restart_elsewhere(node, 2);
        CHECK(dialled_also_at(node, 2, {}).empty());
    }
    SUBCASE("it has called, and never answered at its address") {
        HelloReceived hello = node.hello_from(2);
        hello.hello.directory = of_2;
        node.accept(hello);
        restart_elsewhere(node, 2);
        CHECK(dialled_also_at(node, 2, of_2).empty());
    }
    SUBCASE("it was followed by one with another directory, at the same address") {
        meet(node, 2, of_2);
        restart_elsewhere(node, 2);
        meet(node, 2, {0xD3});
        restart_elsewhere(node, 2);
        CHECK(dialled_also_at(node, 2, of_2).empty());
    }
}

// C13.1
TEST_CASE("callers: a member without a vote is dialled wherever it calls from") {
    NodeFixture node = started();
    CHECK(dialled_also_at(node, 4, {}) == "elsewhere:1");
}

// C13.1
TEST_CASE("callers: who was met is on the disk, and holds for the address where it was") {
    const Config config = one_of_four();
    Start start = test::start_with_file(config);
    start.file->met = {{{2}, "h2:1", of_2}, {{3}, "h3:2", {0xD3}}};
    NodeFixture node(config, start);
    node.recover();
    CHECK(dialled_also_at(node, 2, of_2) == "elsewhere:1");
    CHECK(dialled_also_at(node, 3, {0xD3}).empty());
}

// C13.1
TEST_CASE("callers: whom a node meets before it has a file it has met") {
    Config config = test::config_for(1, {1, 2, 3});
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.wake();
    meet(node, 2, of_2);
    restart_elsewhere(node, 2);
    CHECK(dialled_also_at(node, 2, of_2) == "elsewhere:1");
}

TEST_CASE("callers: a node tells its directory, be it to come, and where it listens") {
    Config config = one_of_four();
    config.listens = ":7100";
    const auto hello = [&](const Start& start) {
        NodeFixture node(config, start);
        return test::sent<Hello>(node.step(Dialled{{2}, {2500}, {}})).at(0);
    };
    const Start start = test::start_with_file(config);
    CHECK(hello(start).directory == start.file->directory);
    CHECK(hello(start).listens == ":7100");
    CHECK(hello(test::start_without_file(config)).directory);
}

// C13.2
TEST_CASE("callers: who says that it is at another member's address exchanges with it") {
    NodeFixture node = started(one_of_four(3));
    node.lead({2});
    const auto change = [&](NodeId id, const std::string& address) {
        const auto asked = MembersRequested{{What::address, id, address}, {Asker::observer, 7}};
        return only<MembersAnswer>(node.step(asked));
    };
    const auto refused = change({1}, "h2:1");
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].why == "node 2 has the address h2:1");
    HelloReceived hello = node.hello_from(1);
    hello.hello.listens = "h2:1";
    node.accept(hello);
    CHECK(change({1}, "h2:1").size() == 1);  // where 2 answers
    SUBCASE("that is down") { node.lose(2); }
    SUBCASE("that is elsewhere, too") {
        node.step(Dialled{{2}, {9001}, {}, true});
        node.step(Receive{{9001}, node.ack_from(2)});
    }
    node.dial(1);
    node.hear_heartbeat(1);
    CHECK(change({1}, "h2:1").empty());  // it is under way
}

// C13.2
TEST_CASE("callers: a leader is where others see it") {
    Config config = one_of_four(3);
    config.listens = ":1";
    NodeFixture node = started(config);
    node.lead({2});
    HelloAck ack = node.ack_from(1);
    const auto change = [&] {
        return only<MembersAnswer>(
            node.step(MembersRequested{{What::address, {3}, "h2:1"}, {Asker::observer, 7}}));
    };
    CHECK(change().size() == 1);
    ack.addresses.remote = "h2:4711";
    node.dial(1, ack);
    CHECK(change().size() == 1);  // where 2 answers
    node.accept(1);
    node.hear_heartbeat(1);
    node.lose(2);
    CHECK(change().empty());
}

// C13.2
TEST_CASE("callers: in the list two members never have one address") {
    const Membership list = one_of_four().members;
    const Membership after = *with(list, {What::address, {3}, "h2:1"}, Tag{{5000}, 2});
    CHECK(after.find({3})->address == "h2:1");
    CHECK(after.find({2})->address == "h3:1");
    CHECK(after.find({1})->address == "h1:1");
}

TEST_CASE("callers: an address in a list that nobody has changed is not one that all have") {
    const MemberChange to_h1{What::address, {1}, "h1:1"};
    const Membership changed = one_of_four().members;
    CHECK(is_so_already(changed, to_h1));
    CHECK_FALSE(is_so_already(Membership::of_founders(changed.entries()), to_h1));
}

}  // namespace bullring::protocol::callers_test
