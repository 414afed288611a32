// The changer (PROTOCOL C2.2): the list that decides, a change, and what its leader sees of the
// members give the next list, or the reason why there is none. Pure: it knows of no node.
#pragma once

#include <optional>
#include <string>

#include "protocol/values/member_change.hpp"

namespace bullring::protocol {

/// The members as their leader sees them, by their slots in its list.
struct Sight {
    NodeId leader;
    MemberSet connected;  // both ways
    MemberSet silent;     // of these: they say that they give no vote (R6)
    MemberSet refusing;   // their logs say why
    MemberSet reached;    // the processes that answer at the addresses of their entries (C13.2)
    bool caller_is_there = false;  // the member of the change calls from its new address (C13.2)
    std::optional<NodeId> behind;  // a member whose version knows of no lists that change (C11.8)
};

/// The next list, or why there is none.
struct Changed {
    std::optional<Membership> next;
    std::string why;
    bool lasting = false;  // no waiting helps
};

Changed changed(const Membership& base, const MemberChange& change, const Sight& sight, Tag tag);

}  // namespace bullring::protocol
