#include "protocol/selectors/ring_hops.hpp"

#include <algorithm>

namespace bullring::protocol {

Walk& walk_of(AnyToken& token) {
    return std::visit([](auto& any) -> Walk& { return any.walk; }, token);
}

const Walk& walk_of(const AnyToken& token) {
    return std::visit([](const auto& any) -> const Walk& { return any.walk; }, token);
}

std::optional<Index> next_hop(const MemberAccess& member, Instant now, const AnyToken& token,
                              MemberSet skipped) {
    const Walk& walk = walk_of(token);
    const auto* const search = std::get_if<Token>(&token);
    const MemberSet voters = member.members().voters();
    // Nobody else counts for a majority, or could take the owner's place.
    const auto wanted = [&](Index i) {
        return voters.contains(i) ||
               (search != nullptr &&
                member.rank(i) > Rank{search->owner_priority, search->walk.owner});
    };
    const auto usable = [&](Index i) {
        return i != member.me() && !skipped.contains(i) && member.connected(i, now) &&
               member.can_send(i);
    };
    for (std::size_t k = 1; k < member.size(); ++k) {
        const Index next = member.members().ring_next(member.me(), k);
        if (wanted(next) && !walk.visited.contains(next) && usable(next)) return next;
    }
    const auto owner = member.members().index(walk.owner);
    if (owner && usable(*owner)) return owner;
    if (owner && *owner == member.me()) return std::nullopt;  // at home, and everybody visited
    for (auto at = walk.path.rbegin(); at != walk.path.rend(); ++at)
        if (usable(*at)) return *at;
    return std::nullopt;
}

void visit(Walk& walk, Index here) {
    const auto before = std::find(walk.path.begin(), walk.path.end(), here);
    if (before != walk.path.end()) {
        walk.path.erase(before + 1, walk.path.end());
    } else {
        walk.path.push_back(here);
    }
    walk.visited.insert(here);
}

bool RingHops::forward(MemberAccess& member, Step& step, AnyToken token, MemberSet skipped) {
    const auto to = next_hop(member, step.now, token, skipped);
    if (!to) return false;
    return send_to(member, step, *to, std::move(token), skipped);
}

bool RingHops::send_to(MemberAccess& member, Step& step, Index to, AnyToken token,
                       MemberSet skipped) {
    if (!member.can_send(to)) return false;
    Walk& walk = walk_of(token);
    ++walk.step;
    // T1.1, L5: no token is older than three times round.
    if (walk.step > 3 * (member.size() - 1)) return true;
    std::visit([&](const auto& any) { member.send(step, to, any); }, token);
    if (acknowledged_ == Acknowledged::no) return true;
    if (under_way_.size() >= under_way_max) under_way_.erase(under_way_.begin());
    under_way_.push_back({to, std::move(token), skipped, step.now + member.timing().hop_wait});
    return true;
}

void RingHops::on_ack(Index from, const TokenAck& ack) {
    std::erase_if(under_way_, [&](const Hop& hop) {
        const Walk& walk = walk_of(hop.token);
        return hop.to == from && walk.owner == ack.owner &&
               walk.owner_incarnation == ack.owner_incarnation && walk.round == ack.round &&
               walk.step == ack.step;
    });
}

std::vector<AnyToken> RingHops::resend_failed(MemberAccess& member, Step& step) {
    std::vector<Hop> failed;
    std::erase_if(under_way_, [&](Hop& hop) {
        const bool under_way = !due(step.now, hop.until) && member.connected(hop.to, step.now) &&
                               member.can_send(hop.to);
        if (under_way) return false;
        failed.push_back(std::move(hop));
        return true;
    });
    std::vector<AnyToken> stranded;
    for (Hop& hop : failed) {
        --walk_of(hop.token).step;  // the same hop, to somebody else
        hop.skipped.insert(hop.to);
        AnyToken copy = hop.token;
        if (!forward(member, step, std::move(hop.token), hop.skipped))
            stranded.push_back(std::move(copy));
    }
    return stranded;
}

void RingHops::collect_wakes(WakeTime& wake) const {
    for (const Hop& hop : under_way_) wake.timer(hop.until);
}

}  // namespace bullring::protocol
