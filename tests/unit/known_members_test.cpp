// The members at a node's start and where they are dialled, from the list of the state file and
// from what `--peers` says.
#include "src/node/known_members.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/settings/survival_note.hpp"

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

Membership changed(const std::vector<MemberEntry>& entries) {
    return {{{7}, 1}, entries, ids_of(entries)};
}

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
        "to change it says bullring help member");
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

TEST_CASE("known members: only those with a vote count for how many failures are survived") {
    const auto list = [](std::size_t voters, std::size_t all) {
        std::vector<MemberEntry> entries;
        for (std::size_t i = 0; i < all; ++i)
            entries.push_back({{i + 1}, static_cast<protocol::Index>(i), i < voters, ""});
        return changed(entries);
    };
    CHECK(survival_note(list(3, 4)).empty());
    CHECK(survival_note(list(1, 2)).empty());
    CHECK(survival_note(list(2, 3)) == "2 voters survive no failure; 3 would survive 1 failure");
}

TEST_CASE("known members: an address in peers comes before that of a changed list") {
    NodeOptions options = started_with({{{1}, at("nat")}, {{2}, at("b")}});
    const Membership file = changed({{{1}, 0, true, "a:7100"},
                                     {{2}, 1, true, "b:7100"},
                                     {{3}, 2, false, "c:7100"},
                                     {{4}, 3, false, ""}});
    CHECK(take_members(file, options) ==
          "peers has the members 1, 2, and the list in the state file holds, which has 1, 2, 3, 4; "
          "how to change it says bullring help member; member 1 is dialled at "
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

// ---- While it runs.

namespace {

const auto nobody_connected = [](NodeId) { return false; };
const auto all_connected = [](NodeId) { return true; };

DialledMembers dialled_by_2(const PeerList& peers, const Membership& members) {
    return {{2}, peers, members};
}

}  // namespace

TEST_CASE("dialled members: one that is added is dialled, one that is removed is not") {
    DialledMembers members =
        dialled_by_2({{{1}, at("a")}, {{2}, at("b")}}, Membership(std::vector<NodeId>{{1}, {2}}));
    CHECK(members
              .follow(changed({{{2}, 1, true, "b:7100"}, {{3}, 2, false, "c:7100"}}), all_connected)
              .empty());
    CHECK(members.peers() == PeerList{{{2}, at("b")}, {{3}, at("c")}});
}

TEST_CASE("dialled members: a node that is removed keeps its own entry") {
    DialledMembers members =
        dialled_by_2({{{1}, at("a")}, {{2}, at("b")}}, Membership(std::vector<NodeId>{{1}, {2}}));
    CHECK(members.follow(changed({{{1}, 0, true, "a:7100"}}), all_connected).empty());
    CHECK(members.peers() == PeerList{{{1}, at("a")}, {{2}, at("b")}});
}

TEST_CASE("dialled members: what peers has holds, until the list changes it") {
    DialledMembers members =
        dialled_by_2({{{1}, at("nat")}, {{2}, at("b")}}, Membership(std::vector<NodeId>{{1}, {2}}));
    const Membership first = changed({{{1}, 0, true, "a:7100"}, {{2}, 1, true, "b:7100"}});
    SUBCASE("of one that is connected there") {
        members.follow(first, all_connected);
        CHECK(members.peers().at({1}) == at("nat"));
        members.follow(changed({{{1}, 0, false, "a:7100"}, {{2}, 1, true, "b:7100"}}),
                       nobody_connected);
        CHECK(members.peers().at({1}) == at("nat"));
        members.follow(changed({{{1}, 0, false, "z:7100"}, {{2}, 1, true, "b:7100"}}),
                       all_connected);
        CHECK(members.peers().at({1}) == at("z"));
    }
    SUBCASE("but not of one that is not connected: it may have moved") {
        members.follow(first, nobody_connected);
        CHECK(members.peers().at({1}) == at("a"));
    }
}

TEST_CASE("dialled members: it is said of which members no address is known") {
    DialledMembers members = dialled_by_2({{{2}, at("b")}}, Membership(std::vector<NodeId>{{2}}));
    CHECK(members.follow(changed({{{2}, 0, true, ""}, {{3}, 1, false, ""}, {{4}, 2, false, ""}}),
                         nobody_connected) == "no address is known of the members 3, 4");
    CHECK(members.peers() == PeerList{{{2}, at("b")}});
}

}  // namespace bullring::known_members_test
