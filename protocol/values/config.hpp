// The configuration of a node, and the facts of its start. The host validates it; nothing here
// changes afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/state.hpp"
#include "protocol/values/timing.hpp"

namespace bullring::protocol {

enum class FirstEpoch : std::uint8_t { clock, zero };
const char* name(FirstEpoch first);

struct Config {
    NodeId self;
    /// K of the state file; without a file the members that found the cluster, or none: then the
    /// node founds no cluster, and is told its list when it has been added to one.
    Membership members;
    std::string cluster = "bullring";
    Algorithm algorithm = Algorithm::bully;
    QuorumMode quorum = QuorumMode::majority;
    Timing timing;
    Priority priority;
    std::string advertised;
    std::string listens;  // see Hello::listens
    bool preempt = true;
    FastRelease fast_release = FastRelease::fin;  // as voter and as holder
    bool tie = true;  // with fin: ask voters to tie grants to sessions; false where children act
    /// Something that acts for it as the leader may outlive it without holding its directory's lock
    /// (A4): hooks, or children of a library's host.
    bool hooks = false;
    /// Another process is to announce the end of this node's process to the others.
    bool tells_of_its_end() const {
        return fast_release == FastRelease::notice && quorum == QuorumMode::majority && !hooks;
    }
    Duration bootstrap_wait = seconds(10);
    FirstEpoch first_epoch = FirstEpoch::clock;
    /// A member without a vote that its leader has not heard for so long is removed by it (C9.1);
    /// 0: never.
    Duration forget_after = seconds(60);
    /// The highest version of the messages that it speaks: `version_lowest` … `version_highest`.
    std::uint16_t wire_highest = version_highest;
    bool operator==(const Config&) const = default;
};

/// The facts that differ from run to run. Read after the directory's lock is held (R6).
struct Start {
    Instant now;
    Incarnation incarnation;
    Commitment commitment{};  // with FastRelease::notice
    std::uint64_t seed = 0;
    std::optional<Durable> file;      // nullopt: there was none
    std::uint64_t wall_clock_ms = 0;  // since 1970, already not before the build date
};

}  // namespace bullring::protocol
