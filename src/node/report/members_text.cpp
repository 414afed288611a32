#include "src/node/report/members_text.hpp"

#include <vector>

#include <fmt/format.h>

namespace bullring {

using protocol::MemberEntry;
using protocol::Membership;

std::string members_text(const Membership& members) {
    std::vector<std::string> ids;
    for (const MemberEntry& member : members.entries())
        ids.push_back(std::to_string(member.id.value) + (member.votes ? "" : " without a vote"));
    return fmt::format("{} (list {})", fmt::join(ids, ", "),
                       to_text(members.tag().value_or(protocol::Tag{})));
}

Json members_json(const Membership& members) {
    Json list = Json::array();
    for (const MemberEntry& member : members.entries())
        list.push_back(
            {{"id", member.id.value}, {"address", member.address}, {"vote", member.votes}});
    return list;
}

}  // namespace bullring
