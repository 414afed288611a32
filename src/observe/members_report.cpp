#include "src/observe/members_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "protocol/values/messages.hpp"
#include "src/base/text/json.hpp"
#include "src/base/text/table.hpp"
#include "src/base/text/text.hpp"

namespace bullring {
namespace {

/// Nullptr: it has not answered anywhere.
const MemberAnswer* answer_of(protocol::NodeId id, const std::vector<MemberAnswer>& answers) {
    const auto found = std::find_if(answers.begin(), answers.end(),
                                    [id](const MemberAnswer& one) { return one.id == id; });
    return found == answers.end() || !found->answer ? nullptr : &*found;
}

/// It has answered at the address that the list has of it, or the list has none.
bool is_reached(const MemberAnswer& member, const protocol::MemberEntry& as_listed) {
    if (!member.answer) return false;
    const bool is_there = as_listed.address.empty() || member.address == as_listed.address;
    return is_there || (member.listed && member.listed->address == as_listed.address &&
                        member.listed->problem.empty());
}

std::string problem_at(const MemberAnswer& member, const std::string& address) {
    if (member.listed && member.listed->address == address) return member.listed->problem;
    return member.answer ? "it answers at " + one_line(member.address) : member.problem;
}

std::string reachable_text(const MemberAnswer* answer, const protocol::MemberEntry& member) {
    if (answer == nullptr) return "no";
    return is_reached(*answer, member) ? "yes" : "at " + one_line(answer->address);
}

}  // namespace

std::string why_not_reached(protocol::NodeId id, const std::string& address,
                            const std::vector<MemberAnswer>& answers) {
    for (const MemberAnswer& member : answers)
        if (member.id == id)
            return is_reached(member, {id, 0, true, address}) ? "" : problem_at(member, address);
    return "it was not asked";
}

std::string members_table(const protocol::Membership& list,
                          const std::vector<MemberAnswer>& answers) {
    std::vector<std::array<std::string, 5>> rows{{"ID", "ADDRESS", "VOTE", "REACHABLE", "ROLE"}};
    for (const protocol::MemberEntry& member : list.entries()) {
        const MemberAnswer* const answer = answer_of(member.id, answers);
        rows.push_back({std::to_string(member.id.value),
                        member.address.empty() ? "-" : one_line(member.address),
                        member.votes ? "yes" : "no", reachable_text(answer, member),
                        answer != nullptr ? one_line(answer->answer->role) : "-"});
    }
    return table(rows) + fmt::format("list {}\n", to_text(list.tag().value_or(protocol::Tag{})));
}

std::string members_json(const protocol::Membership& list,
                         const std::vector<MemberAnswer>& answers) {
    Json json;
    json["tag"] = to_text(list.tag().value_or(protocol::Tag{}));
    json["members"] = Json::array();
    for (const protocol::MemberEntry& member : list.entries()) {
        const MemberAnswer* const answer = answer_of(member.id, answers);
        json["members"].push_back(
            {{"id", member.id.value},
             {"address", member.address},
             {"vote", member.votes},
             {"reachable", answer != nullptr && is_reached(*answer, member)},
             {"reached_at", answer != nullptr ? Json(answer->address) : Json()},
             {"role", answer != nullptr ? Json(answer->answer->role) : Json()}});
    }
    return json_text(json);
}

std::string why_no_list(const std::vector<MemberAnswer>& answers) {
    std::string text = "no member has told its list";
    for (const MemberAnswer& one : answers) {
        if (one.answer && one.answer->wire >= protocol::version_with_tags)
            text += fmt::format("; {} has none yet", one.id.value);
        else if (one.answer)
            text += fmt::format("; {} tells no list, as version {} does not", one.id.value,
                                one_line(one.answer->version));
        else
            text += fmt::format("; {}: {}", one.id ? std::to_string(one.id.value) : one.address,
                                one_line(one.problem));
    }
    return text;
}

}  // namespace bullring
