// The list of members as `member list` prints it.
#include "src/observe/members_report.hpp"

#include <optional>
#include <utility>

#include <doctest/doctest.h>

namespace bullring::members_report_test {
namespace {

const protocol::Membership list(
    {{7}, 2}, {{{1}, 0, true, "a:7100"}, {{2}, 1, false, "b:7100"}, {{30}, 2, true, ""}}, {{1}});

std::vector<MemberAnswer> answers() {
    MemberAnswer one{{1}, "a:7100", NodeAnswer{}, "", false};
    one.answer->role = "leader";
    return {one, {{2}, "b:7100", std::nullopt, "Connection refused", false}};
}

}  // namespace

TEST_CASE("member list: a line a member, with the list's addresses, and the tag") {
    CHECK(members_table(list, answers()) ==
          "ID  ADDRESS  VOTE  REACHABLE  ROLE\n"
          "1   a:7100   yes   yes        leader\n"
          "2   b:7100   no    no         -\n"
          "30  -        yes   no         -\n"
          "list 7.2\n");
}

TEST_CASE("member list: the JSON has the same, null for a role that is not known") {
    CHECK(
        members_json(list, answers()) ==
        R"({"tag":"7.2","members":[)"
        R"({"id":1,"address":"a:7100","vote":true,"reachable":true,"reached_at":"a:7100","role":"leader"},)"
        R"({"id":2,"address":"b:7100","vote":false,"reachable":false,"reached_at":null,"role":null},)"
        R"({"id":30,"address":"","vote":true,"reachable":false,"reached_at":null,"role":null}]})");
}

TEST_CASE("member list: who answers elsewhere alone is not reachable at the list's address") {
    const auto table_with = [](std::optional<ListedAddress> listed) {
        MemberAnswer one{{1}, "old:7100", NodeAnswer{}, "", false};
        one.answer->role = "leader";
        one.listed = std::move(listed);
        const std::string json = members_json(list, {one});
        CHECK(json.find(R"("reached_at":"old:7100")") != std::string::npos);
        const std::string table = members_table(list, {one});
        const bool reachable = json.find(R"("reachable":true)") != std::string::npos;
        CHECK(reachable == (table.find("at old:7100") == std::string::npos));
        return reachable;
    };
    CHECK_FALSE(table_with(std::nullopt));
    CHECK_FALSE(table_with(ListedAddress{"a:7100", "Connection refused"}));
    CHECK_FALSE(table_with(ListedAddress{"before:7100", ""}));  // what was asked is another one
    CHECK(table_with(ListedAddress{"a:7100", ""}));
}

TEST_CASE("member list: it is said of each why it has told no list") {
    std::vector<MemberAnswer> all = answers();
    all[0].answer->version = "0.1.0";
    CHECK(why_no_list(all) ==
          "no member has told its list; 1 tells no list, as version 0.1.0 does not; 2: Connection "
          "refused");
}

}  // namespace bullring::members_report_test
