// The members at a node's start and where they are dialled, from the list of the state file and
// from what `--peers` says.
#include "src/node/known_members.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::known_members_test {

using protocol::MemberEntry;
using protocol::Membership;
using protocol::NodeId;

namespace {

Endpoint at(const char* host) { return {host, 7100}; }

/// Node 2, started with these peers.
NodeOptions started_with(const PeerList& peers) {
    NodeOptions options;
    options.config.self = {2};
    options.peers = peers;
    std::vector<NodeId> ids;
    for (const auto& [id, endpoint] : peers) ids.push_back(id);
    options.config.members = Membership(ids);
    return options;
}

Membership changed(const std::vector<MemberEntry>& entries) { return {{{7}, 1}, entries}; }

}  // namespace

TEST_CASE("known members: a list that was never changed takes its addresses from peers") {
    NodeOptions options = started_with({{{1}, at("a")}, {{2}, at("b")}});
    CHECK(take_members(Membership(std::vector<NodeId>{{1}, {2}}), options).empty());
    CHECK(options.peers == PeerList{{{1}, at("a")}, {{2}, at("b")}});
    CHECK(options.config.members.find({1})->address == "a:7100");
}

TEST_CASE("known members: the list of the file holds, and it is said what differs") {
    NodeOptions options = started_with({{{1}, at("a")}, {{2}, at("b")}, {{9}, at("i")}});
    CHECK(
        take_members(Membership(std::vector<NodeId>{{1}, {2}}), options) ==
        "peers has the members 1, 2, 9, and the list in the state file holds, which has 1, 2; how "
        "to change it says bullring help node, under OPERATION");
    CHECK(options.config.members.ids() == std::vector<NodeId>{{1}, {2}});
    CHECK(options.peers == PeerList{{{1}, at("a")}, {{2}, at("b")}});
}

TEST_CASE("known members: how many failures the members survive is said of those that hold") {
    NodeOptions options = started_with({{{1}, at("a")}, {{2}, at("b")}, {{3}, at("c")}});
    options.start_notes = {"another", "2 members survive no failure; 3 would survive 1 failure"};
    options.config.members = Membership(std::vector<NodeId>{{1}, {2}});
    take_members(Membership(std::vector<NodeId>{{1}, {2}, {3}, {4}}), options);
    CHECK(
        options.start_notes ==
        std::vector<std::string>{"another",
                                 "4 members survive 1 failure, no more than 3 members do; 5 would "
                                 "survive 2 failures"});
}

TEST_CASE("known members: an address in peers comes before that of a changed list") {
    NodeOptions options = started_with({{{1}, at("nat")}, {{2}, at("b")}});
    const Membership file = changed({{{1}, 0, true, "a:7100"},
                                     {{2}, 1, true, "b:7100"},
                                     {{3}, 2, false, "c:7100"},
                                     {{4}, 3, false, ""}});
    CHECK(take_members(file, options) ==
          "peers has the members 1, 2, and the list in the state file holds, which has 1, 2, 3, 4; "
          "how to change it says bullring help node, under OPERATION; member 1 is dialled at "
          "nat:7100, as peers has it, and not at a:7100; "
          "member 4 has no address, neither in the state file nor in peers");
    CHECK(options.config.members == file);
    CHECK(options.peers == PeerList{{{1}, at("nat")}, {{2}, at("b")}, {{3}, at("c")}});
}

TEST_CASE("known members: a node that the list does not have keeps its own entry") {
    NodeOptions options = started_with({{{1}, at("a")}, {{2}, at("b")}});
    take_members(changed({{{1}, 0, true, "a:7100"}}), options);
    CHECK(options.peers == PeerList{{{1}, at("a")}, {{2}, at("b")}});
}

}  // namespace bullring::known_members_test
