#include "src/verify/drill/claims.hpp"

#include <fmt/format.h>

namespace bullring::drill {

namespace {

/// Older epochs are nobody's any more, whatever happens to the cluster.
constexpr std::size_t epochs_kept = 256;

}  // namespace

std::optional<std::string> Claims::add(const Claim& claim) {
    const auto [same, is_first] = first_.try_emplace(claim.epoch, First{claim.node, claim.heard});
    if (first_.size() > epochs_kept) first_.erase(first_.begin());
    if (!is_first && same->second.node != claim.node)
        return fmt::format("nodes {} and {} both claim to lead epoch {}", same->second.node.value,
                           claim.node.value, claim.epoch.value);
    if (!claim.asked) return std::nullopt;
    for (auto higher = first_.upper_bound(claim.epoch); higher != first_.end(); ++higher) {
        const auto& [epoch, first] = *higher;
        if (first.node != claim.node && first.heard < *claim.asked)
            return fmt::format("node {} claims to lead epoch {} after node {} has led epoch {}",
                               claim.node.value, claim.epoch.value, first.node.value, epoch.value);
    }
    return std::nullopt;
}

}  // namespace bullring::drill
