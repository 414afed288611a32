#include "src/api/member_list.hpp"

namespace bullring {

MemberList described(const protocol::Membership& list) {
    if (list.empty()) return {{}, {}, "this node has no list of members yet"};
    MemberList told;
    told.tag = to_text(list.tag().value_or(protocol::Tag{}));
    for (const protocol::MemberEntry& member : list.entries())
        told.members.push_back({member.id.value, member.address, member.votes});
    return told;
}

}  // namespace bullring
