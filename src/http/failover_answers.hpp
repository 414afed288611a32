// Answers questions about the last changes of leader: a list of them, and the trace of each.
// Pure.
#pragma once

#include <cstdint>

#include "src/http/answers.hpp"
#include "src/node/report/recent_failovers.hpp"

namespace bullring {

/// [{"number":…,"time":…,"from":…,"to":…,"epoch":…,"reason":…,"gap_ms":…}], the newest first;
/// "reason" is how the leader before went (LeaderEnd), "gap_ms" is null where there was no leader
/// to be lost. `now_ns` and `wall_ns` are CLOCK_BOOTTIME and CLOCK_REALTIME now.
HttpAnswer failover_list(const Failovers& failovers, std::int64_t now_ns, std::int64_t wall_ns);

/// Lines of `--trace`: all that this node has sent, received and done then. 404: there is none of
/// this number, or it has been forgotten.
HttpAnswer failover_trace(const Failovers& failovers, std::uint64_t number);

}  // namespace bullring
