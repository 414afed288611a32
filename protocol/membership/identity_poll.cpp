#include "protocol/membership/identity_poll.hpp"

#include <algorithm>
#include <utility>

namespace bullring::protocol {

void IdentityPoll::note(NodeId member, const Identity& has) {
    const auto is_it = [member](const Told& one) { return one.member == member; };
    const auto found = std::find_if(told_.begin(), told_.end(), is_it);
    if (found == told_.end())
        told_.push_back({member, has});
    else
        found->has = has;
}

std::optional<Identity> IdentityPoll::newest() const {
    Identity newest;
    for (const auto& [member, has] : told_) {
        // C11.6
        if (are_of_different_clusters(newest.known(), has.known())) return std::nullopt;
        if (has.rank() > newest.rank()) newest = has;
    }
    return newest;
}

bool IdentityPoll::has_told(NodeId member) const {
    return std::any_of(told_.begin(), told_.end(),
                       [member](const Told& one) { return one.member == member; });
}

bool IdentityPoll::majority_has_told(const Membership& base) const {
    return base.is_majority(members_of(base, [](const Identity&) { return true; }));
}

bool IdentityPoll::held_by_majority(const Membership& base) const {
    // The id that an earlier leader has given may not be what a majority has.
    return given_.id && base.is_majority(members_of(base, [this](const Identity& has) {
        return has.id == given_.id && (has.settled || has.epoch == epoch_);
    }));
}

}  // namespace bullring::protocol
