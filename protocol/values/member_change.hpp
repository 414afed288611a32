// A change of the list of members that an operator asks of a leader (PROTOCOL C2), and the list
// that it makes of another one. Whether it may be made now its leader decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/values/membership.hpp"

namespace bullring::protocol {

struct MemberChange {
    enum class What : std::uint8_t {
        add = 1,  // without a vote
        remove,
        promote,
        demote,
        address,
    };
    What what = What::add;
    NodeId id;
    std::string address;  // add, address
    bool operator==(const MemberChange&) const = default;
};

const char* name(MemberChange::What what);

/// `list` with that change and tag: a member that is added gets the next free slot after the
/// highest in use, wrapping round. nullopt: the list has no such member, or no room for one more.
std::optional<Membership> with(const Membership& list, const MemberChange& change, Tag tag);
/// `list` is as the change would have it.
bool is_so_already(const Membership& list, const MemberChange& change);
/// The same members under another tag.
Membership retagged(const Membership& list, Tag tag);
/// Those of both lists; where both have a member, as `newer` has it. Both agree on slots, but where
/// one list has given a slot to somebody else: then `newer` alone has it.
Membership joined(const Membership& older, const Membership& newer);
/// `list` and `self`, without a vote, if it is not in it.
Membership with_self(const Membership& list, NodeId self);

}  // namespace bullring::protocol
