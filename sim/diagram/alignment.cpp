#include "sim/diagram/alignment.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/diagram/words.hpp"

namespace bullring::sim::diagram {

namespace {

using Run = std::pair<std::uint64_t, std::uint64_t>;  // node, incarnation

struct Hop {
    std::int64_t fastest = INT64_MAX;  // receipt − sending, by the two clocks
    std::uint64_t count = 0;
};

using Hops = std::map<std::pair<Run, Run>, Hop>;

std::int64_t in_range(std::int64_t time) {
    return std::clamp(time, -trace_time_max, trace_time_max);
}

Run run_of(const TraceRecord& record) { return {record.node, record.incarnation}; }

Hops measure(const Trace& trace, const Matching& matching) {
    Hops hops;
    for (std::size_t i = 0; i < trace.records.size(); ++i) {
        const TraceRecord& receipt = trace.records[i];
        if (receipt.what != RecordKind::recv || matching.partner[i] == no_record) continue;
        const TraceRecord& sending = trace.records[matching.partner[i]];
        Hop& hop = hops[{run_of(sending), run_of(receipt)}];
        hop.fastest = std::min(hop.fastest, receipt.t_ns - sending.t_ns);
        ++hop.count;
    }
    return hops;
}

/// How far b's clock is ahead of a's, as far as messages tell.
std::optional<std::int64_t> ahead(const Hops& hops, const Run& a, const Run& b) {
    const auto there = hops.find({a, b});
    const auto back = hops.find({b, a});
    if (there == hops.end() && back == hops.end()) return std::nullopt;
    if (back == hops.end()) return there->second.fastest;
    if (there == hops.end()) return -back->second.fastest;
    return (there->second.fastest - back->second.fastest) / 2;
}

std::uint64_t messages_between(const Hops& hops, const Run& a, const Run& b) {
    std::uint64_t count = 0;
    if (const auto there = hops.find({a, b}); there != hops.end()) count += there->second.count;
    if (const auto back = hops.find({b, a}); back != hops.end()) count += back->second.count;
    return count;
}

/// By run: what its clock shows beyond the first run's. Grows along the busiest links, as these
/// have the fastest messages.
std::map<Run, std::int64_t> offsets(const std::set<Run>& runs, const Hops& hops) {
    std::map<Run, std::int64_t> known;
    std::set<Run> rest = runs;
    while (!rest.empty()) {
        Run from;
        Run to = *rest.begin();
        std::uint64_t best = 0;
        for (const auto& [reached, offset] : known) {
            for (const Run& candidate : rest) {
                const std::uint64_t count = messages_between(hops, reached, candidate);
                if (count <= best) continue;
                best = count;
                from = reached;
                to = candidate;
            }
        }
        // Nothing connects it with those before: it keeps its own time.
        known[to] = best == 0 ? 0 : in_range(known[from] + ahead(hops, from, to).value_or(0));
        rest.erase(to);
    }
    return known;
}

}  // namespace

void align_clocks(Trace& trace, const Matching& matching) {
    if (trace.true_time) return;
    const Hops hops = measure(trace, matching);
    const bool plausible = std::all_of(hops.begin(), hops.end(),
                                       [](const auto& hop) { return hop.second.fastest >= 0; });
    if (plausible) return;
    std::set<Run> runs;
    for (const TraceRecord& record : trace.records) {
        if (record.node != 0) runs.insert(run_of(record));
    }
    const std::map<Run, std::int64_t> shown = offsets(runs, hops);
    for (TraceRecord& record : trace.records) {
        const auto offset = shown.find(run_of(record));
        if (offset != shown.end()) record.t_ns = in_range(record.t_ns - offset->second);
    }
    for (const auto& [run, offset] : shown) {
        if (offset == 0) continue;
        trace.notes.push_back(fmt::format(
            "node {}'s clock shows {} more than node {}'s, judged by their messages; its lines "
            "were moved",
            run.first, rounded_duration(offset), shown.begin()->first.first));
    }
}

}  // namespace bullring::sim::diagram
