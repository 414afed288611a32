// The state of changes to the list of members (PROTOCOL C2, C6.1): the newest list that was shown
// to this node, and the change that it makes as the leader.
#pragma once

#include <optional>
#include <tuple>

#include "protocol/values/member_change.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

struct PendingChange {
    MemberChange change;
    RequestId request;
    bool proposed = false;  // the list with it is on its way to the voters
    bool undone = false;    // it could not be settled; a list without it is on its way
    bool forgets = false;   // nobody has asked for it: the member is gone (C9.1)
    bool operator==(const PendingChange&) const = default;
};

struct ListChanges {
    Membership shown;  // the newest, whatever became of it
    /// Somebody has shown a list of other founders than this node, which has none, is to be one of;
    /// until then it does not found (C8.1).
    Instant founded_elsewhere = long_ago;
    std::optional<PendingChange> pending;
    /// The silence (R6.14) that those have caused who are dealt with no more, by what they have
    /// said of another process with this node's id.
    Instant twin_over = long_ago;
    bool operator==(const ListChanges&) const = default;
    auto digest_fields() const { return std::tie(shown, founded_elsewhere, pending, twin_over); }
};

}  // namespace bullring::protocol
