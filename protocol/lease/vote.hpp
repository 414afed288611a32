// The voter's rules (PROTOCOL R2): whether a request is granted now, refused, or has to wait for
// the disk. Every grant of this node, to itself too, passes through vote(), the only door to the
// promise.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// A lease request as a voter sees it, whichever way it came.
struct LeaseRequest {
    HolderKey key;
    Epoch epoch;
    Duration lease;
    bool renew = false;
    SessionId session;  // to tie to; `no_session` when untied
    Tag tag{};          // of the list of members that the holder goes by
    std::optional<Membership> members = std::nullopt;  // that list, where it was sent
    std::optional<Identity> identity = std::nullopt;   // of its cluster, with that list
};

/// The answer of a voter (R2).
struct Vote {
    enum class Kind : std::uint8_t { granted, refused, after_disk };
    Kind kind = Kind::refused;
    NackReason reason = NackReason::stale;
    NodeId promise_holder;
    Epoch promised_epoch;
    Duration remaining{0};
    std::optional<Membership> members = std::nullopt;  // stale_members: the voter's list
    std::optional<Identity> identity = std::nullopt;   // of its cluster, with that list
};

Vote vote(Parts& node, Step& step, const LeaseRequest& request);
/// To itself, for an epoch and a lease, under that list.
Vote vote_for_itself(Parts& node, Step& step, Epoch epoch, Duration lease, bool renew,
                     const Membership& list);

}  // namespace bullring::protocol
