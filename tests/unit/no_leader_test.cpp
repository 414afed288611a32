// Why nobody leads, by the answers of the members.
#include "src/observe/no_leader.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::no_leader_test {
namespace {

/// Three nodes of `run` that hear each other and could lead.
std::vector<MemberAnswer> three() {
    std::vector<MemberAnswer> members;
    for (std::uint64_t id = 1; id <= 3; ++id) {
        NodeAnswer answer;
        answer.id = {id};
        answer.quorum = "majority";
        answer.role = "follower";
        for (std::uint64_t other = 1; other <= 3; ++other)
            if (other != id) answer.peers_up.push_back({other});
        answer.eligible = answer.healthy = true;
        answer.mode = "run";
        answer.task.emplace();
        members.push_back({{id}, "host:7100", answer, ""});
    }
    return members;
}

template <class Change>
std::string why(Change change) {
    std::vector<MemberAnswer> members = three();
    for (MemberAnswer& one : members) change(*one.answer);
    return why_no_leader(members).why;
}

void fail(NodeAnswer& node) {
    node.eligible = false;
    node.wrong = "does not stand: its command has ended (exit 1); it stands again after 4s";
    node.task = ShownTask{false, 0, 3, "exit 1", 0, 0};
}

void sicken(NodeAnswer& node) {
    node.eligible = node.healthy = false;
    node.wrong = "unhealthy: exit 1 of health command";
}

}  // namespace

TEST_CASE("no leader: work that fails everywhere is told as that, and by what it is") {
    CHECK(why(fail) == "the command fails on every node that could lead");
    CHECK(why([](NodeAnswer& node) {
              fail(node);
              node.mode = "library";
          }) == "the work fails on every node that could lead");
    CHECK(why(sicken) == "the health check fails on every node that could lead");
    CHECK(why([](NodeAnswer& node) { node.id.value == 1 ? sicken(node) : fail(node); }) ==
          "something is wrong with every node that could lead");
    // Those who never stand are not those on whom it fails.
    CHECK(why([](NodeAnswer& node) {
              node.eligible = false;
              if (node.id.value == 2) fail(node);
          }) == "the command fails on every node that could lead");
    CHECK(why([](NodeAnswer& node) { node.eligible = false; }) ==
          "none of those who are there may lead");
}

TEST_CASE("no leader: as long as one could lead an election is due, whatever fails elsewhere") {
    CHECK(why([](NodeAnswer&) {}) == "an election is due or under way");
    CHECK(why([](NodeAnswer& node) {
              if (node.id.value != 3) fail(node);
          }) == "an election is due or under way");
    // Of an older version, which does not tell.
    CHECK(why([](NodeAnswer& node) { node.eligible = std::nullopt; }) ==
          "an election is due or under way");
}

TEST_CASE("no leader: a majority that is away, deaf or silent comes before what fails") {
    CHECK(why([](NodeAnswer& node) {
              fail(node);
              node.peers_up.clear();
          }) == "no majority hears each other");
    CHECK(why([](NodeAnswer& node) {
              fail(node);
              node.votes = node.id.value == 1;
          }) == "no majority votes yet");
    std::vector<MemberAnswer> members = three();
    for (MemberAnswer& one : members) fail(*one.answer);
    members[0].answer.reset();
    CHECK_FALSE(why_no_leader(members).elsewhere);
    members[1].answer.reset();
    CHECK(why_no_leader(members).elsewhere);
    CHECK(why_no_leader(members).why == "no majority answers");
    CHECK(why_no_leader({}).why == "no majority answers");
}

TEST_CASE("no leader: one whom too few follow is told as that") {
    CHECK(why([](NodeAnswer& node) {
              if (node.id.value != 3) return;
              node.leader = node.id;
              node.lease_left_ms = 400;
          }) == "no majority agrees on one leader with a live lease");
}

TEST_CASE("no leader: where the list was changed its voters decide, and nobody else") {
    std::vector<MemberAnswer> members = three();
    const protocol::Membership list({{7}, 1},
                                    {{{1}, 0, true, "a:1"},
                                     {{2}, 1, false, "b:1"},
                                     {{3}, 2, false, "c:1"},
                                     {{4}, 3, true, ""},
                                     {{5}, 4, true, ""}},
                                    {{1}, {4}, {5}});
    for (MemberAnswer& one : members) one.answer->list = list;
    const Electorate electorate = electorate_of(members);
    CHECK(electorate.voters == std::vector<protocol::NodeId>{{1}, {4}, {5}});
    CHECK(electorate.answered.size() == 1);
    CHECK(why_no_leader(members).why == "no majority answers");
}

TEST_CASE("no leader: who is refused looks at its own credentials before the network") {
    std::vector<MemberAnswer> members = three();
    for (MemberAnswer& one : members) one.answer.reset();
    CHECK(why_no_leader(members).remedy.starts_with("start the others"));
    members[1].refused = true;
    CHECK(why_no_leader(members).remedy.starts_with("compare --cluster, --security"));
}

}  // namespace bullring::no_leader_test
