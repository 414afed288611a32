// Answers questions about the last changes of leader: a list of them, and a picture of each. Pure.
#pragma once

#include <cstdint>

#include "src/http/answers.hpp"
#include "src/node/report/recent_failovers.hpp"

namespace bullring {

/// [{"number":…,"time":…,"from":…,"to":…,"epoch":…,"reason":…,"gap_ms":…}], the newest first;
/// "reason" is how the leader before went (LeaderEnd), "gap_ms" is null where there was no leader
/// to be lost. `now_ns` and `wall_ns` are CLOCK_BOOTTIME and CLOCK_REALTIME now.
HttpAnswer failover_list(const Failovers& failovers, std::int64_t now_ns, std::int64_t wall_ns);

/// The legend of all pictures.
HttpAnswer failover_legend(const Failovers& failovers);

using FailoverForm = HttpAnswer (*)(const Failover&);
/// 404: there is none of this number, or it has been forgotten.
HttpAnswer failover_answer(const Failovers& failovers, std::uint64_t number, FailoverForm form);

HttpAnswer as_picture(const Failover& failover);
HttpAnswer as_bare_picture(const Failover& failover);  // without its legend
HttpAnswer as_lines(const Failover& failover);         // what it is drawn from

}  // namespace bullring
