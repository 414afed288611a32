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

const NodeAnswer* answer_of(protocol::NodeId id, const std::vector<MemberAnswer>& answers) {
    const auto found = std::find_if(answers.begin(), answers.end(),
                                    [id](const MemberAnswer& one) { return one.id == id; });
    return found == answers.end() || !found->answer ? nullptr : &*found->answer;
}

}  // namespace

std::string members_table(const protocol::Membership& list,
                          const std::vector<MemberAnswer>& answers) {
    std::vector<std::array<std::string, 5>> rows{{"ID", "ADDRESS", "VOTE", "REACHABLE", "ROLE"}};
    for (const protocol::MemberEntry& member : list.entries()) {
        const NodeAnswer* const answer = answer_of(member.id, answers);
        rows.push_back({std::to_string(member.id.value),
                        member.address.empty() ? "-" : one_line(member.address),
                        member.votes ? "yes" : "no", answer != nullptr ? "yes" : "no",
                        answer != nullptr ? one_line(answer->role) : "-"});
    }
    return table(rows) + fmt::format("list {}\n", to_text(list.tag().value_or(protocol::Tag{})));
}

std::string members_json(const protocol::Membership& list,
                         const std::vector<MemberAnswer>& answers) {
    Json json;
    json["tag"] = to_text(list.tag().value_or(protocol::Tag{}));
    json["members"] = Json::array();
    for (const protocol::MemberEntry& member : list.entries()) {
        const NodeAnswer* const answer = answer_of(member.id, answers);
        json["members"].push_back({{"id", member.id.value},
                                   {"address", member.address},
                                   {"vote", member.votes},
                                   {"reachable", answer != nullptr},
                                   {"role", answer != nullptr ? Json(answer->role) : Json()}});
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
            text += fmt::format("; {}: {}", one.id.value, one_line(one.problem));
    }
    return text;
}

}  // namespace bullring
