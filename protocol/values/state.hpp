// The state that must survive a crash (PROTOCOL §2), and the words for a node's condition.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/values/directory.hpp"
#include "protocol/values/identity.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// The durable state. The host writes it (temp, fsync, rename, fsync of the directory) and binds it
/// to cluster name and own id. Only a clean stop lowers `hw`, to what was used.
struct Durable {
    Epoch hw;               // every epoch ever proposed or granted here is ≤ hw
    Duration promised_max;  // the longest promise ever given here is ≤ promised_max
    bool hooks = false;  // of a run that may have had some (Config::hooks); nobody outlives it else
    Membership members{};             // K; every file has one
    Identity identity{};              // C11; a file of before there were any has none
    DirectoryId directory{};          // C13.1: its own
    std::vector<MetDirectory> met{};  // C13.1: by id, of members of K
    bool operator==(const Durable&) const = default;
};

/// C10.1: what `self`, a member, goes on with when a majority is lost for ever and an operator says
/// so: alone, in epochs above those of its file and above `clock`.
Durable refounded(const Durable& before, NodeId self, Epoch clock);

enum class Role : std::uint8_t { follower, candidate, leader, stepping_down };

/// Why a leadership ended, in the words of the event stream.
enum class DeposedReason : std::uint8_t {
    resigned,
    preempted,
    lease_expired,
    higher_rank,
    stalled,
    unhealthy,
    task_ended,
    task_failed,
    stopped,
};

const char* name(Role role);
const char* name(DeposedReason reason);

}  // namespace bullring::protocol
