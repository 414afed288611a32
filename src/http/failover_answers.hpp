// Answers questions about the last changes of leader: a list of them, and a picture of each. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/http/answers.hpp"
#include "src/node/report/recent_failovers.hpp"

namespace bullring {

/// `/failovers`: [{"number":…,"time":…,"from":…,"to":…,"epoch":…,"reason":…,"gap_ms":…}], the
/// newest first; "reason" is how the leader before went (LeaderEnd), "gap_ms" is null where there
/// was no leader to be lost. `/failovers/N.svg`: a picture;
/// `/failovers/N.bare.svg`: without its legend; `/failovers/legend.svg`: that of all of them;
/// `/failovers/N.jsonl`: what it is drawn from. nullopt: the path is none of these. `now_ns` and
/// `wall_ns` are CLOCK_BOOTTIME and CLOCK_REALTIME now.
std::optional<HttpAnswer> failover_answer(std::string_view path, const Failovers& failovers,
                                          std::int64_t now_ns, std::int64_t wall_ns);

}  // namespace bullring
