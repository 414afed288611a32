#include "protocol/values/membership.hpp"

#include <algorithm>

namespace bullring::protocol {

Membership::Membership(std::vector<NodeId> ids) : ids_(std::move(ids)) {
    std::sort(ids_.begin(), ids_.end());
}

std::optional<Index> Membership::index(NodeId id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (at == ids_.end() || *at != id) return std::nullopt;
    return static_cast<Index>(at - ids_.begin());
}

}  // namespace bullring::protocol
