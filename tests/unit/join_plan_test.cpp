// The plan of a node that joins, by the members' answers, and what is in its way.
#include "src/observe/join_plan.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::join_plan_test {
namespace {

using protocol::MemberChange;
using protocol::Membership;

/// Node 4, which listens at 10.0.0.4:7100.
NodeOptions joiner() {
    NodeOptions options;
    options.config.self = {4};
    options.join = {{"10.0.0.1", 7100}};
    options.listen = {"10.0.0.4", 7100};
    return options;
}

Membership list_of(std::vector<protocol::MemberEntry> more = {}) {
    more.push_back({{1}, 0, true, "10.0.0.1:7100"});
    return {{{7}, 2}, more, {{1}}};
}

MemberAnswer answer_of(std::uint64_t id, const Membership& list) {
    MemberAnswer one{{id}, "10.0.0." + std::to_string(id) + ":7100", NodeAnswer{}, "", false, {id}};
    one.answer->id = {id};
    one.answer->algorithm = "bully";
    one.answer->quorum = "majority";
    one.answer->wire = protocol::version_highest;
    one.answer->list = list;
    one.answer->founders = list.founders();
    return one;
}

tl::expected<JoinPlan, Obstacle> planned(const NodeOptions& options,
                                         const std::vector<MemberAnswer>& answers,
                                         const KnownCluster& own = {}) {
    return plan_joining({options, {}, own}, answers);
}

std::string in_the_way(const NodeOptions& options, const std::vector<MemberAnswer>& answers,
                       const KnownCluster& own = {}) {
    const auto plan = planned(options, answers, own);
    return plan ? "nothing" : to_text(plan.error());
}

}  // namespace

TEST_CASE("joining: what is asked for is what the list lacks") {
    NodeOptions options = joiner();
    options.voter = true;
    auto plan = planned(options, {answer_of(1, list_of())});
    REQUIRE(plan.has_value());
    CHECK(plan->address == "10.0.0.4:7100");
    CHECK(plan->changes ==
          std::vector<MemberChange>{{MemberChange::What::add, {4}, "10.0.0.4:7100"},
                                    {MemberChange::What::promote, {4}, ""}});
    plan = planned(options, {answer_of(1, list_of({{{4}, 1, true, "10.0.0.9:7100"}}))});
    REQUIRE(plan.has_value());
    CHECK(plan->changes ==
          std::vector<MemberChange>{{MemberChange::What::address, {4}, "10.0.0.4:7100"}});
    plan = planned(options, {answer_of(1, list_of({{{4}, 1, true, "10.0.0.4:7100"}}))});
    REQUIRE(plan.has_value());
    CHECK(plan->changes.empty());
}

TEST_CASE("joining: what the members would refuse is in the way, with its own remedy") {
    NodeOptions options = joiner();
    const std::vector<MemberAnswer> answers{answer_of(1, list_of())};
    options.config.algorithm = protocol::Algorithm::ring;
    CHECK(in_the_way(options, answers) ==
          "algorithm is 'ring' here and 'bully' there; give this node the --algorithm of the "
          "others");
    options = joiner();
    options.config.wire_highest = 2;
    CHECK(in_the_way(options, answers) ==
          "version is '2-2' here and '3-6' there; take --wire 2 from this node: a list of members "
          "that was changed needs 3");
    std::vector<MemberAnswer> old = answers;
    old[0].answer->wire = 2;
    CHECK(in_the_way(joiner(), old) ==
          "version is '3-6' here and '2-2' there; take --wire from node 1, or upgrade it (bullring "
          "help upgrade)");
    // Of a node of another cluster nothing is asked.
    std::vector<MemberAnswer> two = answers;
    two.push_back(answer_of(9, Membership(std::vector<protocol::NodeId>{{9}})));
    two[1].answer->algorithm = "ring";
    two.push_back(answer_of(1, list_of()));
    CHECK(in_the_way(joiner(), two) == "nothing");
}

TEST_CASE("joining: by a directory of another cluster nothing is asked of this one") {
    std::vector<MemberAnswer> answers{answer_of(1, list_of())};
    answers[0].answer->cluster_id = {0xb};
    const KnownCluster founded_by_2{Membership(std::vector<protocol::NodeId>{{2}}), {}};
    const std::string remedy =
        "if this node's directory is another cluster's, or an old copy, end it, delete the "
        "directory, and start it again; else correct the addresses of --join and in the list "
        "(bullring member address)";
    CHECK(in_the_way(joiner(), answers, founded_by_2) ==
          "founders is '2' here and '1' there; " + remedy);
    const KnownCluster twin{list_of(), {0xa}};
    CHECK(in_the_way(joiner(), answers, twin) ==
          "cluster id is '000000000000000a' here and '000000000000000b' there; " + remedy);
    CHECK(in_the_way(joiner(), answers, {list_of(), {0xb}}) == "nothing");
    CHECK(in_the_way(joiner(), answers, {list_of(), {}}) == "nothing");
    // Its own is told from the others, though more of those have answered.
    answers.push_back(answer_of(1, list_of()));
    answers[1].answer->cluster_id = {0xb};
    answers.push_back(answer_of(2, list_of({{{2}, 1, true, "10.0.0.2:7100"}})));
    answers[2].answer->cluster_id = {0xa};
    const auto plan = planned(joiner(), answers, twin).value();
    CHECK(plan.cluster_id == protocol::ClusterId{0xa});
    CHECK(plan.answers.size() == 1);
    CHECK(plan.list.size() == 2);
}

TEST_CASE("joining: a place or an address that another has is in the way") {
    const Membership list = list_of({{{4}, 1, false, "10.0.0.7:7100"}});
    MemberAnswer other = answer_of(4, list);
    other.address = "10.0.0.7:7100";
    CHECK(in_the_way(joiner(), {answer_of(1, list), other}) ==
          "another process is node 4, at 10.0.0.7:7100; end it, or give this one an --id of its "
          "own");
    CHECK(in_the_way(joiner(), {answer_of(1, list_of({{{3}, 1, true, "10.0.0.4:7100"}}))}) ==
          "node 3 has the address 10.0.0.4:7100; give this node another --listen or --join-as, or "
          "have the other removed");
    NodeOptions loopback = joiner();
    loopback.listen = {"127.0.0.1", 7100};
    CHECK(in_the_way(loopback, {answer_of(1, list_of())}) ==
          "the others do not reach it at 127.0.0.1:7100, as far as it knows; give --join-as "
          "HOST:PORT");
}

TEST_CASE("joining: who refuses to tell a list is told from who is not there") {
    MemberAnswer dead{{}, "10.0.0.1:7100", std::nullopt, "Connection refused", false};
    CHECK(in_the_way(joiner(), {dead}) == "10.0.0.1:7100: Connection refused");
    dead.refused = true;
    dead.problem = "it refuses this end: it has another key or another --cluster";
    CHECK(in_the_way(joiner(), {dead}) ==
          "10.0.0.1:7100: it refuses this end: it has another key or another --cluster; compare "
          "--cluster, --security and the addresses with those of the others");
}

}  // namespace bullring::join_plan_test
