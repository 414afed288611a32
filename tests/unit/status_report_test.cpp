// `status`: whether the members agree, the table, the JSON.
#include "src/observe/status_report.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "src/observe/which_cluster.hpp"

namespace bullring::status_report_test {
namespace {

MemberAnswer member(std::uint64_t id) {
    MemberAnswer made;
    made.id = {id};
    made.address = "host-" + std::to_string(id) + ":7100";
    made.problem = "Connection refused";
    return made;
}

MemberAnswer member(std::uint64_t id, std::uint64_t leader, std::uint64_t epoch,
                    std::int64_t lease_left_ms = 400) {
    MemberAnswer made = member(id);
    NodeAnswer answer;
    answer.cluster = "blue";
    answer.algorithm = "bully";
    answer.quorum = "majority";
    answer.id = {id};
    answer.role = id == leader ? "leader" : "follower";
    answer.leader = {leader};
    answer.epoch = {epoch};
    answer.lease_left_ms = lease_left_ms;
    answer.peers_up = {{1}, {3}};
    answer.why = "follows " + std::to_string(leader);
    answer.uptime_ms = 3'723'000;
    answer.version = "0.1.0";
    answer.wire = 2;
    answer.wire_with = {{{4}, 2}};
    answer.security = "key";
    answer.priority = {5};
    answer.eligible = true;
    made.answer = answer;
    return made;
}

using Members = std::vector<MemberAnswer>;

}  // namespace

TEST_CASE("status: a majority that names one leader and epoch agrees") {
    CHECK(agreement({member(1, 3, 7), member(2, 3, 7), member(3, 3, 7)}) == Agreement{{3}, {7}});
    CHECK(agreement({member(1), member(2, 3, 7), member(3, 3, 7)}) == Agreement{{3}, {7}});
    CHECK(agreement({member(1, 1, 1)}) == Agreement{{1}, {1}});
}

TEST_CASE("status: half of the members is no majority, and the unreachable count as members") {
    CHECK(!agreement({member(1), member(2), member(3, 3, 7)}));
    CHECK(!agreement({member(1, 2, 7), member(2, 2, 7), member(3), member(4)}));
    CHECK(!agreement({}));
}

TEST_CASE("status: another leader or another epoch is no agreement") {
    CHECK(!agreement({member(1, 3, 7), member(2, 2, 7), member(3)}));
    CHECK(!agreement({member(1, 3, 7), member(2, 3, 8), member(3)}));
    CHECK(agreement({member(1, 3, 7), member(2, 3, 8), member(3, 3, 8)}) == Agreement{{3}, {8}});
}

TEST_CASE("status: nobody is not a leader to agree on, nor is one whose lease is over") {
    CHECK(!agreement({member(1, 0, 7), member(2, 0, 7), member(3, 0, 7)}));
    CHECK(!agreement({member(1, 3, 7, 0), member(2, 3, 7, 0), member(3, 3, 7)}));
}

TEST_CASE("status: without a quorum there is no lease that could be over") {
    Members members{member(1, 3, 7, 0), member(2, 3, 7, 0), member(3)};
    for (MemberAnswer& one : members) {
        if (one.answer) one.answer->quorum = "none";
    }
    CHECK(agreement(members) == Agreement{{3}, {7}});
}

namespace {

/// The members 1 to 5, of which `voters` vote.
protocol::Membership list(std::uint64_t epoch, const std::vector<std::uint64_t>& voters) {
    std::vector<protocol::MemberEntry> entries;
    for (std::uint64_t id = 1; id <= 5; ++id) {
        const bool votes = std::count(voters.begin(), voters.end(), id) != 0;
        entries.push_back({{id}, static_cast<protocol::Index>(id), votes, "host:7100"});
    }
    return {{{epoch}, 1}, std::move(entries), {{1}, {2}, {3}}};
}

MemberAnswer telling(MemberAnswer member, const protocol::Membership& told) {
    if (!member.answer) member.answer.emplace();
    member.answer->list = told;
    return member;
}

}  // namespace

TEST_CASE("status: where the list has been changed, the majority is that of its voters") {
    const protocol::Membership two = list(7, {1, 3});
    CHECK(agreement({telling(member(1, 3, 7), two), member(2), member(3, 3, 7), member(4),
                     member(5), member(9)}) == Agreement{{3}, {7}});
    // Those without a vote count for nothing, nor does one that is no member.
    CHECK(!agreement({telling(member(1, 3, 7), two), member(2, 3, 7), member(3), member(4, 3, 7),
                      member(9, 3, 7)}));
    // The voter that is not there has not even been asked.
    CHECK(!agreement({telling(member(1, 3, 7), two), member(2, 3, 7)}));
    // The newest list that somebody tells counts.
    CHECK(agreement({telling(member(1, 3, 7), list(8, {1})), telling(member(2), two)}) ==
          Agreement{{3}, {7}});
}

TEST_CASE("status: it is said who has no vote, and who is in no list any more") {
    const Members members{telling(member(1, 3, 7), list(7, {1, 3})), member(2, 3, 7), member(9)};
    const std::string table = status_table(members);
    CHECK(table.find("follows 3\n") != std::string::npos);
    CHECK(table.find("follows 3; has no vote\n") != std::string::npos);
    CHECK(table.find("Connection refused; not in the list of members 7.1\n") != std::string::npos);
    const std::string json = status_json("blue", members);
    for (const char* vote : {R"("vote":true})", R"("vote":false})", R"("vote":null,)"})
        CHECK(json.find(vote) != std::string::npos);
}

namespace {

MemberAnswer founded_by(std::vector<protocol::NodeId> founders, MemberAnswer member) {
    member.answer->list = protocol::Membership(founders);
    member.answer->founders = std::move(founders);
    return member;
}

}  // namespace

TEST_CASE(
    "status: of two clusters with one name and the same founders that which most are of counts") {
    MemberAnswer one = founded_by({{1}, {2}, {3}}, member(1, 3, 7));
    MemberAnswer two = founded_by({{1}, {2}, {3}}, member(2, 1, 9));
    MemberAnswer three = founded_by({{1}, {2}, {3}}, member(3, 3, 7));
    one.answer->cluster_id = three.answer->cluster_id = protocol::cluster_id_in("00000000000000c1");
    two.answer->cluster_id = {0xbad};
    const std::vector<MemberAnswer> members{two, one, three};
    CHECK(agreement(members) == Agreement{{3}, {7}});
    CHECK(status_table(members).find("of another cluster of this name, founded by 1,2,3, with the "
                                     "id 0000000000000bad\n") != std::string::npos);
    CHECK(meant_cluster_id(members) == protocol::ClusterId{0xc1});
    const Members ours = of_one_cluster(members);
    CHECK(!ours[0].answer.has_value());
    CHECK(ours[0].problem ==
          "of another cluster of this name, founded by 1,2,3, with the id 0000000000000bad");
    CHECK((ours[1].answer.has_value() && ours[2].answer.has_value()));
    CHECK(most_are_of_one_cluster(members));
    CHECK_FALSE(most_are_of_one_cluster({two, one, member(3)}));
    CHECK_FALSE(most_are_of_one_cluster({two, one}));
    CHECK_FALSE(is_ambiguous(members));
    // Of three one is dead, and one is a neighbour that leads.
    MemberAnswer leads = founded_by({{1}, {2}, {3}}, member(2, 2, 9));
    leads.answer->cluster_id = {0xbad};
    CHECK(!claimed_leader({member(1), leads, three}));
}

TEST_CASE("status: the list of who names no id counts where nobody names one") {
    const protocol::Membership old = list(9, {2});
    const protocol::Membership todays = list(7, {1, 2, 3});
    MemberAnswer stray = telling(member(2, 2, 9), old);
    MemberAnswer one = telling(member(1, 3, 7), todays);
    stray.answer->founders = one.answer->founders = todays.founders();
    CHECK(newest_list({stray, one}) == old);
    one.answer->cluster_id = {0xc1};
    CHECK(newest_list({stray, one}) == todays);
}

TEST_CASE("status: a cluster's id is 16 hexadecimal digits") {
    CHECK(protocol::cluster_id_in("0000000000000bad") == protocol::ClusterId{0xbad});
    for (const char* none : {"", "bad", "0000000000000bax", "00000000000000bad", "-00000000000bad"})
        CHECK(!protocol::cluster_id_in(none));
}

TEST_CASE("status: a node of another cluster of the same name counts for nothing, and says so") {
    // Node 4 has founded a cluster of its own, in a higher epoch, and was added to that of 1 and 3.
    protocol::Membership grown = list(7, {1, 3});
    MemberAnswer one = telling(member(1, 3, 7), grown);
    MemberAnswer three = telling(member(3, 3, 7), grown);
    one.answer->founders = three.answer->founders = grown.founders();
    const Members members{founded_by({{4}}, member(4, 4, 9)), one, three};
    CHECK(newest_list(members) == grown);
    CHECK(agreement(members) == Agreement{{3}, {7}});
    CHECK(claimed_leader(members) == Agreement{{3}, {7}});
    CHECK(status_table(members).find("; of another cluster of this name, founded by 4\n") !=
          std::string::npos);
    CHECK(status_json("blue", members).find(R"("founders":[4])") != std::string::npos);
    // One of each: that whose list has both.
    const Members two{founded_by({{4}}, member(4, 4, 9)), one};
    CHECK(newest_list(two) == grown);
    // One of each, and neither has heard of the other: nobody is asked for anything.
    const Members strangers{founded_by({{1}}, member(1, 1, 7)), founded_by({{4}}, member(4, 4, 9))};
    CHECK(is_ambiguous(strangers));
    CHECK(!claimed_leader(strangers));
    CHECK_FALSE(is_ambiguous(two));
    // A node that has no list yet is of no other cluster.
    CHECK(agreement({founded_by({{1}, {2}, {3}}, member(1, 3, 7)), member(2, 3, 7), member(3)}) ==
          Agreement{{3}, {7}});
}

TEST_CASE("status: the members that a node without a list was started with are nobody's list") {
    MemberAnswer joiner = telling(
        member(1, 3, 7), protocol::Membership(std::vector<protocol::NodeId>{{1}, {2}, {3}, {4}}));
    const Members members{joiner, founded_by({{2}, {3}, {4}}, member(2, 3, 7)),
                          founded_by({{2}, {3}, {4}}, member(3, 3, 7)), member(4)};
    CHECK(newest_list(members).founders() == std::vector<protocol::NodeId>{{2}, {3}, {4}});
    CHECK(agreement(members) == Agreement{{3}, {7}});
    CHECK(status_table(members).find("of another cluster") == std::string::npos);
}

TEST_CASE("status: with several who say that they lead, the newest epoch is meant") {
    CHECK(claimed_leader({member(1, 1, 6), member(2, 3, 7), member(3, 3, 7)}) ==
          Agreement{{3}, {7}});
    CHECK(!claimed_leader({member(1), member(2, 3, 7), member(3, 3, 7, 0)}));
}

TEST_CASE("status: whoever is reachable and silent is waited for, whoever is not there is not") {
    Members members{member(1), member(2, 3, 7), member(3, 3, 7)};
    CHECK(all_reachable_vote(members));
    CHECK_FALSE(all_reachable(members));
    members[1].answer->votes = false;
    CHECK_FALSE(all_reachable_vote(members));
    CHECK(agreement(members) == Agreement{{3}, {7}});
    members[0] = member(1, 3, 7);
    CHECK(all_reachable(members));
}

TEST_CASE("status: the table has a line a member, a dash for what is not known") {
    const Members members{member(1, 3, 12), member(2), member(3, 0, 12, 0)};
    CHECK(status_table(members) ==
          "ID  ADDRESS      REACHABLE  ROLE      LEADER  EPOCH  LEASE LEFT  UPTIME  SECURITY  WHY\n"
          "1   host-1:7100  yes        follower  3       12     400ms       1h2m    key       "
          "follows 3\n"
          "2   host-2:7100  no         -         -       -      -           -       -         "
          "Connection refused\n"
          "3   host-3:7100  yes        follower  -       12     -           1h2m    key       "
          "follows 0\n");
}

TEST_CASE(
    "status: who agrees on nobody is told with the reasons, those who have the same together") {
    Members members{member(1, 0, 7, 0), member(2), member(3, 0, 7, 0)};
    for (MemberAnswer& one : members) {
        if (!one.answer) continue;
        one.answer->why = one.answer->wrong = "unhealthy: exit 1 of health command";
        one.answer->healthy = one.answer->eligible = false;
    }
    CHECK(why_no_agreement(members) ==
          "no leader: the health check fails on every node that could lead: 2 of 3 members "
          "reachable; 2: Connection refused; 1, 3: unhealthy: exit 1 of health command; run the "
          "health command by hand there");
    members[0] = member(1);
    CHECK(why_no_agreement(members) ==
          "no leader is known here: no majority answers: 1 of 3 members reachable; 1, 2: "
          "Connection refused; 3: unhealthy: exit 1 of health command; start the others, or mend "
          "the network between here and them");
}

TEST_CASE("status: with whom a lower version of the wire format is spoken is said behind the why") {
    Members members{member(1, 1, 1), member(2, 1, 1), member(3, 1, 1)};
    members[0].answer->wire_with = {{{2}, 1}, {{3}, 1}};
    members[1].answer->wire_with = {{{1}, 1}, {{3}, 2}};
    members[2].answer->wire_with = {{{1}, 2}, {{2}, 2}};
    const std::string table = status_table(members);
    CHECK(table.find("follows 1; wire 1 with 2, 1 with 3\n") != std::string::npos);
    CHECK(table.find("follows 1; wire 1 with 1\n") != std::string::npos);
    CHECK(table.find("follows 1\n") != std::string::npos);
}

TEST_CASE("status: while versions differ, the lowest is told that a changed list leaves") {
    Members members{telling(member(1, 1, 1), list(7, {1, 3})), member(2, 1, 1)};
    const auto told = [&] { return status_table(members).find("below 3\n") != std::string::npos; };
    CHECK_FALSE(told());
    members[1].answer->wire = 3;
    CHECK(told());
    CHECK(status_json("blue", members).find(R"("wire_lowest":3)") != std::string::npos);
    members[0].answer->list = {};
    CHECK_FALSE(told());
}

TEST_CASE("status: of who does not answer, too, it is told where the list has it") {
    Members members{member(1, 1, 1), member(2)};
    members[1].listed = ListedAddress{"elsewhere:7100", "no answer"};
    CHECK(status_table(members).find("; not reached at elsewhere:7100") != std::string::npos);
}

TEST_CASE("status: an uptime is shown in its two largest units") {
    const auto uptime = [](std::int64_t ms) {
        Members members{member(1, 1, 1)};
        members[0].answer->uptime_ms = ms;
        const std::string table = status_table(members);
        const std::size_t security = table.rfind("key");
        const std::size_t end = table.find_last_not_of(' ', security - 1) + 1;
        const std::size_t begin = table.rfind(' ', end - 1) + 1;
        return table.substr(begin, end - begin);
    };
    CHECK(uptime(0) == "0s");
    CHECK(uptime(59'999) == "59s");
    CHECK(uptime(303'000) == "5m3s");
    CHECK(uptime(273'600'000) == "3d4h");
}

TEST_CASE("status: the JSON has the keys of the contract, null for what is not known") {
    const Members members{member(1, 3, 7), member(2), member(3, 3, 7)};
    CHECK(
        status_json("blue", members) ==
        R"({"cluster":"blue","algorithm":"bully","quorum":"majority","leader":3,"epoch":7,)"
        R"("nodes":[{"id":1,"address":"host-1:7100","reachable":true,"advertised":"",)"
        R"("role":"follower","leader":3,"epoch":7,"lease_left_ms":400,"promised_to":null,)"
        R"("peers_up":[1,3],"why":"follows 3","uptime_ms":3723000,"version":"0.1.0","commit":"","wire":2,)"
        R"("wire_lowest":1,"wire_with":{"4":2},"members_tag":"0.0","founders":null,"cluster_id":null,"security":"key",)"
        R"("priority":5,"eligible":true,"healthy":null,"wrong":null,"mode":null,"votes":true,"vote":null},)"
        R"({"id":2,"address":"host-2:7100","reachable":false,"advertised":null,"role":null,)"
        R"("leader":null,"epoch":null,"lease_left_ms":null,"promised_to":null,"peers_up":[],)"
        R"("why":null,"uptime_ms":null,"version":null,"commit":null,"wire":null,"wire_lowest":null,"wire_with":null,)"
        R"("members_tag":null,"founders":null,"cluster_id":null,)"
        R"("security":null,"priority":null,"eligible":null,"healthy":null,"wrong":null,"mode":null,"votes":null,"vote":null,"problem":"Connection refused"},)"
        R"({"id":3,"address":"host-3:7100","reachable":true,"advertised":"","role":"leader",)"
        R"("leader":3,"epoch":7,"lease_left_ms":400,"promised_to":null,"peers_up":[1,3],)"
        R"("why":"follows 3","uptime_ms":3723000,"version":"0.1.0","commit":"","wire":2,)"
        R"("wire_lowest":1,"wire_with":{"4":2},"members_tag":"0.0","founders":null,"cluster_id":null,"security":"key",)"
        R"("priority":5,"eligible":true,"healthy":null,"wrong":null,"mode":null,"votes":true,"vote":null}]})");
}

TEST_CASE("status: when nobody answers, all but the members' addresses is null") {
    CHECK(
        status_json("blue", {member(4)}) ==
        R"({"cluster":"blue","algorithm":null,"quorum":null,"leader":null,"epoch":null,)"
        R"("why":"no majority answers","remedy":"start the others, or mend the network between here and them",)"
        R"("nodes":[{"id":4,"address":"host-4:7100","reachable":false,"advertised":null,)"
        R"("role":null,"leader":null,"epoch":null,"lease_left_ms":null,"promised_to":null,)"
        R"("peers_up":[],"why":null,"uptime_ms":null,"version":null,"commit":null,"wire":null,)"
        R"("wire_lowest":null,"wire_with":null,"members_tag":null,"founders":null,"cluster_id":null,"security":null,"priority":null,"eligible":null,"healthy":null,"wrong":null,"mode":null,"votes":null,"vote":null,"problem":"Connection refused"}]})");
}

TEST_CASE("status: an answer that is no JSON, lacks a key or has a wrong type is an error") {
    const char* const wrong[] = {
        "",
        "{",
        "[]",
        "null",
        R"({"cluster":"a","algorithm":"bully","quorum":"majority"})",
        R"({"cluster":"a","algorithm":"bully","quorum":"majority","node":{"id":"x"}})"};
    for (const char* text : wrong) {
        CAPTURE(text);
        const auto answer = parse_node_answer(text);
        REQUIRE(!answer.has_value());
        CHECK(!answer.error().empty());
    }
}

TEST_CASE("status: a number that is not whole, or too large, is an error") {
    const auto with_uptime = [](const std::string& uptime) {
        return parse_node_answer(
            R"({"cluster":"a","algorithm":"bully","quorum":"majority","node":{"id":1,)"
            R"("advertised":"","role":"leader","leader":1,"epoch":1,"lease_left_ms":1,)"
            R"("promised_to":null,"peers_up":[2],"why":"","version":"","uptime_ms":)" +
            uptime + "}}");
    };
    CHECK(with_uptime("5").has_value());
    CHECK(with_uptime("9223372036854775807").has_value());
    for (const char* wrong : {"9e22", "1.5", "-1", "9223372036854775808", "true", "null"})
        CHECK_FALSE(with_uptime(wrong).has_value());
}

}  // namespace bullring::status_report_test
