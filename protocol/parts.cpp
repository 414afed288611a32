#include "protocol/parts.hpp"

#include <algorithm>

namespace bullring::protocol {

Parts::Parts(const Config& config, const Start& start)
    : setup(config, start),
      peers(setup),
      max_seen(start.file ? start.file->hw : Epoch{}),  // R6.17
      rng(start.seed),
      voter(max_seen),
      recovery(setup, start),
      reserve(start.file, config.hooks) {
    if (fenced()) reserve.want(DirectoryId{Rng(~start.seed).next()});
}

Instant Parts::lease_end() const {
    if (fenced()) return holder.lease().deadline();
    return tenure.follows() ? long_ago : never;
}

bool Parts::own_lease_valid(Instant now) const {
    if (role() != Role::leader && role() != Role::stepping_down) return false;
    return lease_valid(now, lease_end());
}

MemberSet Parts::grants(Instant now) const {
    if (fenced()) return holder.lease().voters(now);
    MemberSet own;
    own.insert(me());
    return own;
}

bool Parts::learn_epoch(Instant now, Epoch said) {
    max_seen = epoch_bound.raised(now, max_seen, said);
    return said <= max_seen;
}

const Membership& Parts::list() const {
    return fenced() ? reserve.on_disk().members : config().members;
}

const Membership& Parts::newest_list() const {
    if (!fenced()) return config().members;
    return tenure.follows() ? reserve.newest_members() : holder.newest();
}

const Membership& Parts::deciding() const {
    if (!tenure.follows()) return holder.base();
    return list().empty() ? setup.members() : list();
}

bool Parts::is_majority(MemberSet members) const {
    return fenced() ? deciding().is_majority(members) : !members.empty();
}

Identity Parts::identity() const {
    if (!fenced() || config().wire_highest < version_with_identity) return {};
    // Before the disk has it, too: lists are judged by it, and told with it.
    const bool settled = tenure.leads() && poll.epoch() == epoch() && poll.given().settled;
    return settled ? poll.given() : reserve.newest_identity();
}

std::string Parts::ids_text(MemberSet members) const {
    std::string text;
    for (const Index i : members) text += (text.empty() ? "" : ", ") + std::to_string(id(i).value);
    return text;
}

std::uint16_t Parts::version_with(Index i) const {
    const DialledSession* const dialled = sessions.dialled(peers[i].dialled);
    const AcceptedSession* const accepted = sessions.accepted(peers[i].accepted);
    if (dialled == nullptr) return accepted == nullptr ? std::uint16_t{0} : accepted->version;
    return accepted == nullptr ? dialled->version : std::min(dialled->version, accepted->version);
}

}  // namespace bullring::protocol
