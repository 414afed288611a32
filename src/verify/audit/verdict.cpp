#include "src/verify/audit/verdict.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "protocol/values/durations.hpp"

namespace bullring::audit {

namespace {

constexpr std::size_t shown_max = 10;
/// `time` has microseconds, of which each side may lack a part.
constexpr std::int64_t rounding_ns = 2'000;

using Leaderships = std::vector<Leadership>;

/// A time above zero is never printed as 0.
std::string ms(std::int64_t ns) {
    if (std::abs(ns) < 1'000) return fmt::format("{} ns", ns);
    return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
}

/// The largest value, and the largest of another clock than that.
class LargestByClock {
public:
    struct Entry {
        std::int64_t value = 0;
        std::size_t clock = 0;
        const Leadership* whose = nullptr;
    };

    void add(const Entry& entry) {
        if (first_.whose == nullptr || entry.value > first_.value) {
            if (entry.clock != first_.clock) second_ = first_;
            first_ = entry;
        } else if (entry.clock != first_.clock &&
                   (second_.whose == nullptr || entry.value > second_.value)) {
            second_ = entry;
        }
    }
    /// Without those of this clock; `whose` is null when there are no others.
    const Entry& beside(std::size_t clock) const {
        return first_.clock != clock ? first_ : second_;
    }

private:
    Entry first_, second_;
};

class Judge {
public:
    Judge(const History& history, protocol::Duration clock_error)
        : history_(history), error_ns_(clock_error.ns + rounding_ns), clock_error_(clock_error) {}

    Verdict verdict() {
        verdict_.contradictions = history_.contradictions();
        auto& all = verdict_.leaderships = history_.leaderships();
        std::sort(all.begin(), all.end(),
                  [](const Leadership& a, const Leadership& b) { return a.epoch < b.epoch; });
        look_for_twins(all);
        look_for_unseen(all);
        std::map<std::size_t, std::vector<const Leadership*>> by_clock;
        for (const Leadership& held : all) by_clock[held.clock].push_back(&held);
        verdict_.clocks = by_clock.size();
        for (auto& [clock, held] : by_clock) judge_one_clock(held);
        // `all` moves now, so what points into it is done with.
        std::sort(all.begin(), all.end(), [&](const Leadership& a, const Leadership& b) {
            if (verdict_.clocks == 1) return a.from().ts_ns < b.from().ts_ns;
            return a.from().time_ns < b.from().time_ns;
        });
        if (verdict_.clocks > 1) judge_across_clocks(all);
        look_for_ends(all);
        tell_of_streams();
        return std::move(verdict_);
    }

private:
    void contradict(std::string what, const Quote& first, const Quote& second) {
        verdict_.contradictions.push_back({std::move(what), first, second});
    }

    void doubt(Gap gap, std::string what) {
        GapReport& report = verdict_.gaps[static_cast<std::size_t>(gap)];
        if (++report.count <= shown_max) report.shown.push_back(std::move(what));
    }

    static std::string name_of(const Leadership& held) {
        return fmt::format("epoch {} of node {}", held.epoch, held.node);
    }
    std::string place_of(const Leadership& held) const {
        return history_.text(held.first_quote().place);
    }

    // ---- Without any clock: an epoch is one leadership's alone.

    void look_for_twins(const Leaderships& by_epoch) {
        const auto twin = std::adjacent_find(
            by_epoch.begin(), by_epoch.end(),
            [](const Leadership& a, const Leadership& b) { return a.epoch == b.epoch; });
        if (twin == by_epoch.end()) return;
        const Leadership& other = *std::next(twin);
        contradict(
            fmt::format("nodes {} and {} both led epoch {}", twin->node, other.node, twin->epoch),
            twin->first_quote(), other.first_quote());
    }

    void look_for_unseen(const Leaderships& by_epoch) {
        auto held = by_epoch.begin();
        bool reported = false;
        for (const auto& [epoch, sighting] : history_.sightings()) {
            while (held != by_epoch.end() && held->epoch < epoch) ++held;
            if (held == by_epoch.end() || held->epoch != epoch) {
                doubt(Gap::not_elected,
                      fmt::format("{}: node {} followed node {} in epoch {}, of whose leadership "
                                  "there is no line",
                                  history_.text(sighting.quote.place), sighting.node,
                                  sighting.leader, epoch));
            } else if (held->node != sighting.leader && !std::exchange(reported, true)) {
                contradict(fmt::format("nodes {} and {} both led epoch {}", held->node,
                                       sighting.leader, epoch),
                           held->first_quote(), sighting.quote);
            }
        }
    }

    // ---- On one clock, which is exact.

    void judge_one_clock(std::vector<const Leadership*>& held) {
        std::sort(held.begin(), held.end(), [](const Leadership* a, const Leadership* b) {
            return std::pair(a->from().ts_ns, a->epoch) < std::pair(b->from().ts_ns, b->epoch);
        });
        bool overlapped = false;
        bool fell = false;
        const Leadership* longest = nullptr;
        const Leadership* before = nullptr;
        for (const Leadership* one : held) {
            if (longest != nullptr && one->from().ts_ns < longest->until().ts_ns &&
                !std::exchange(overlapped, true))
                overlap(*longest, *one, overlap_text(*longest, *one));
            if (before != nullptr && one->epoch < before->epoch && !std::exchange(fell, true))
                fall(*before, *one);
            if (longest == nullptr || one->until().ts_ns > longest->until().ts_ns) longest = one;
            before = one;
        }
    }

    /// One whose end is not recorded is taken to have lasted: `b` began within `a`.
    static std::string overlap_text(const Leadership& a, const Leadership& b) {
        const std::int64_t until =
            b.end ? std::min(a.until().ts_ns, b.until().ts_ns) : a.until().ts_ns;
        const std::int64_t ns = until - b.from().ts_ns;
        return ns == 0 ? "an instant" : ms(ns);
    }

    void overlap(const Leadership& a, const Leadership& b, const std::string& how_long) {
        contradict(fmt::format("{}{} and {} overlapped for {}", name_of(a),
                               a.end ? "" : ", not ended yet,", name_of(b), how_long),
                   a.last_edge().quote, b.first_quote());
    }

    void fall(const Leadership& before, const Leadership& after) {
        contradict(fmt::format("{} began before {}", name_of(before), name_of(after)),
                   before.first_quote(), after.first_quote());
    }

    // ---- On several clocks, by the time of day and its error.

    /// Two leaderships have overlapped for certain if each begins before the other's end by more
    /// than the error, and have not if one ends before the other's begin by no less.
    void judge_across_clocks(const Leaderships& by_time) {
        std::vector<LargestByClock> ends(by_time.size() + 1);  // of those before
        LargestByClock epochs;                                 // of those that are surely before
        std::size_t surely_before = 0;
        bool overlapped = false;
        bool fell = false;
        for (std::size_t i = 0; i < by_time.size(); ++i) {
            const Leadership& one = by_time[i];
            const std::int64_t from = one.from().time_ns;
            for (; by_time[surely_before].from().time_ns + error_ns_ < from; ++surely_before) {
                const Leadership& past = by_time[surely_before];
                epochs.add({static_cast<std::int64_t>(past.epoch), past.clock, &past});
            }
            const auto& highest = epochs.beside(one.clock);
            if (highest.whose != nullptr && highest.whose->epoch > one.epoch &&
                !std::exchange(fell, true))
                fall(*highest.whose, one);

            const auto began_before = std::partition_point(
                by_time.begin(), by_time.begin() + static_cast<std::ptrdiff_t>(i),
                [&](const Leadership& other) {
                    return other.from().time_ns + error_ns_ < one.until().time_ns;
                });
            const auto& certain =
                ends[static_cast<std::size_t>(began_before - by_time.begin())].beside(one.clock);
            const auto& latest = ends[i].beside(one.clock);
            if (certain.whose != nullptr && certain.value > from + error_ns_) {
                if (!std::exchange(overlapped, true))
                    overlap(*certain.whose, one,
                            "more than the clocks' error of " + protocol::to_text(clock_error_));
            } else if (latest.whose != nullptr && latest.value + error_ns_ > from) {
                doubt(Gap::too_close,
                      fmt::format("{}: {} began {} after {} by two clocks, which may differ by {}",
                                  place_of(one), name_of(one), ms(from - latest.value),
                                  name_of(*latest.whose), protocol::to_text(clock_error_)));
            }
            ends[i + 1] = ends[i];
            ends[i + 1].add({one.until().time_ns, one.clock, &one});
        }
    }

    // ---- What was not seen.

    void look_for_ends(const Leaderships& in_order) {
        for (std::size_t i = 0; i < in_order.size(); ++i) {
            const Leadership& held = in_order[i];
            if (!held.begin)
                doubt(Gap::begin_unknown,
                      fmt::format("{}: {} ended here, and its election was not seen",
                                  place_of(held), name_of(held)));
            if (held.end) continue;
            if (i + 1 == in_order.size()) {
                ++verdict_.open_ends;
                continue;
            }
            const Leadership& next = in_order[i + 1];
            const Run* const restart = history_.next_run(held);
            if (restart != nullptr && is_before(*restart, next)) continue;
            doubt(Gap::end_unknown,
                  fmt::format("{}: the end of {} is not told{}, and {} began before that ({})",
                              place_of(held), name_of(held),
                              restart == nullptr
                                  ? ""
                                  : fmt::format("; it was over when node {} was "
                                                "started again ({})",
                                                held.node, history_.text(restart->place)),
                              name_of(next), place_of(next)));
        }
    }

    bool is_before(const Run& run, const Leadership& next) const {
        if (run.clock == next.clock) return run.begun.ts_ns <= next.from().ts_ns;
        return run.begun.time_ns + error_ns_ <= next.from().time_ns;
    }

    void tell_of_streams() {
        for (const std::uint64_t node : history_.missing())
            doubt(Gap::no_stream, fmt::format("node {} is a member, and no line is its own", node));
        for (const std::uint64_t node : history_.without_quorum())
            doubt(Gap::without_quorum,
                  fmt::format("node {} was started with --quorum none, which promises nothing",
                              node));
        for (const Run& run : history_.runs())
            if (!run.has_boot)
                doubt(Gap::no_boot, fmt::format("{}: node {} does not report the boot of its host; "
                                                "its lines were compared by time",
                                                history_.text(run.place), run.node));
        for (const Place& torn : history_.torn())
            doubt(Gap::torn_line, fmt::format("{}: the line was cut short", history_.text(torn)));
        for (const auto& [place, count] : history_.lost())
            doubt(Gap::lost_events, fmt::format("{}: so many events before it are missing: {}",
                                                history_.text(place), count));
    }

    const History& history_;
    std::int64_t error_ns_;
    protocol::Duration clock_error_;
    Verdict verdict_;
};

}  // namespace

const char* name(Gap gap) {
    switch (gap) {
        case Gap::end_unknown: return "end_unknown";
        case Gap::begin_unknown: return "begin_unknown";
        case Gap::not_elected: return "not_elected";
        case Gap::too_close: return "too_close";
        case Gap::no_stream: return "no_stream";
        case Gap::torn_line: return "torn_line";
        case Gap::lost_events: return "lost_events";
        case Gap::no_boot: return "no_boot";
        case Gap::without_quorum: return "without_quorum";
    }
    return "";
}

bool Verdict::proved() const {
    return contradictions.empty() &&
           std::all_of(gaps.begin(), gaps.end(),
                       [](const GapReport& one) { return one.count == 0; });
}

Verdict judge(const History& history, protocol::Duration clock_error) {
    return Judge(history, clock_error).verdict();
}

}  // namespace bullring::audit
