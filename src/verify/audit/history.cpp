#include "src/verify/audit/history.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/text/text.hpp"

namespace bullring::audit {

namespace {

/// A stream that contradicts itself on every line is not to fill the memory.
constexpr std::size_t contradictions_max = 10;

bool same(const Moment& a, const Moment& b) { return a.ts_ns == b.ts_ns && a.time_ns == b.time_ns; }

/// The first that began later.
std::vector<Run>::const_iterator after(const std::vector<Run>& runs, std::int64_t time_ns) {
    return std::upper_bound(
        runs.begin(), runs.end(), time_ns,
        [](std::int64_t before, const Run& run) { return before < run.begun.time_ns; });
}

}  // namespace

void History::open_file(std::string name) {
    current_runs_.clear();
    without_lease_.clear();
    files_.push_back(std::move(name));
}

std::string History::text(Place place) const {
    return fmt::format("{}:{}", files_[place.file], place.line);
}

void History::add(std::size_t line, std::string_view text, const EventLine& event) {
    const Moment at{event.ts_ns, event.time_ns};
    if (lines_ == 0 || at.time_ns < first_.time_ns) first_ = at;
    if (lines_ == 0 || at.time_ns > last_.time_ns) last_ = at;
    ++lines_;
    nodes_.insert(event.node);
    actions_.note(event);
    const auto quote = [&] { return Quote{{files_.size() - 1, line}, std::string(text)}; };
    // Where there is no lease, only a line of its own ends a leadership.
    if (const auto open = without_lease_.find(event.node); open != without_lease_.end())
        leaderships_[open->second].still = {at, quote()};
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            // Which say nothing of a leadership.
            constexpr bool other = std::is_same_v<What, OtherEvent> ||
                                   std::is_same_v<What, Asked> || std::is_same_v<What, Stopped>;
            if constexpr (!other) on(event, quote(), what);
        },
        event.what);
}

std::size_t History::clock_named(const std::string& name) {
    return clocks_.emplace(name, clocks_.size()).first->second;
}

void History::contradict(std::string what, const Quote& first, const Quote& second) {
    if (contradictions_.size() < contradictions_max)
        contradictions_.push_back({std::move(what), first, second});
}

void History::on(const EventLine& event, const Quote& quote, const Started& started) {
    members_.insert(started.peers.begin(), started.peers.end());
    if (started.cluster) clusters_.try_emplace(*started.cluster, quote.place);
    if (started.cluster_id) cluster_ids_.try_emplace(*started.cluster_id, quote.place);
    // One that has none yet is about to be added somewhere.
    if (!started.peers.empty())
        member_lists_.try_emplace({started.peers.begin(), started.peers.end()}, quote.place);
    if (started.quorum_none) without_quorum_.insert(event.node);
    const std::string clock =
        started.boot.empty() ? fmt::format("run {}", runs_.size()) : "boot " + started.boot;
    without_lease_.erase(event.node);
    current_runs_[event.node] = runs_.size();
    runs_.push_back({event.node,
                     {event.ts_ns, event.time_ns},
                     quote.place,
                     clock_named(clock),
                     !started.boot.empty(),
                     !started.quorum_none});
}

void History::on(const EventLine& /*event*/, const Quote& quote, const Cluster& cluster) {
    cluster_ids_.try_emplace(cluster.id, quote.place);
}

void History::on(const EventLine& /*event*/, const Quote& quote, const Members& members) {
    members_.insert(members.ids.begin(), members.ids.end());
    member_lists_.try_emplace({members.ids.begin(), members.ids.end()}, quote.place);
}

void History::on(const EventLine& /*event*/, const Quote& quote, const Lost& lost) {
    lost_.emplace_back(quote.place, lost.count);
}

Leadership& History::leadership(const EventLine& event, std::uint64_t epoch) {
    const auto [found, is_new] = index_.emplace(Key{event.node, epoch}, leaderships_.size());
    if (!is_new) return leaderships_[found->second];
    Leadership& added = leaderships_.emplace_back();
    added.node = event.node;
    added.epoch = epoch;
    if (const auto run = current_runs_.find(event.node); run != current_runs_.end())
        added.run = run->second;
    return added;
}

void History::on(const EventLine& event, const Quote& quote, const Elected& elected) {
    Leadership& held = leadership(event, elected.epoch);
    const Moment at{event.ts_ns, event.time_ns};
    if (!held.begin) {
        held.begin = {at, quote};
        // The end may stand in a file that was read before, after the start of another run.
        if (const auto run = current_runs_.find(event.node); run != current_runs_.end())
            held.run = run->second;
        if (held.run && !runs_[*held.run].has_lease)
            without_lease_[event.node] = index_.at({event.node, elected.epoch});
    } else if (!same(held.begin->at, at)) {
        contradict(fmt::format("node {} was elected twice in epoch {}", event.node, elected.epoch),
                   held.begin->quote, quote);
    }
}

void History::on(const EventLine& event, const Quote& quote, const Deposed& deposed) {
    Leadership& held = leadership(event, deposed.epoch);
    without_lease_.erase(event.node);
    const Moment at{deposed.held_until_ns, event.time_ns - (event.ts_ns - deposed.held_until_ns)};
    if (!held.end) {
        held.end = {at, quote};
        held.reason = deposed.reason;
    } else if (held.end->at.ts_ns != at.ts_ns) {
        contradict(fmt::format("epoch {} of node {} ended twice", deposed.epoch, event.node),
                   held.end->quote, quote);
    }
}

void History::on(const EventLine& event, const Quote& quote, const Follows& follows) {
    const auto [found, is_new] =
        sightings_.try_emplace(follows.epoch, Sighting{follows.leader, event.node, quote});
    if (!is_new && found->second.leader != follows.leader)
        contradict(fmt::format("nodes {} and {} both led epoch {}", found->second.leader,
                               follows.leader, follows.epoch),
                   found->second.quote, quote);
}

void History::close() {
    for (const Run& run : runs_) runs_by_time_[run.node].push_back(run);
    for (auto& [node, runs] : runs_by_time_)
        std::sort(runs.begin(), runs.end(),
                  [](const Run& a, const Run& b) { return a.begun.time_ns < b.begun.time_ns; });
    for (Leadership& held : leaderships_) {
        if (held.run) {
            held.clock = runs_[*held.run].clock;
        } else if (const Run* run = run_before(held)) {
            held.clock = run->clock;
        } else {
            held.clock = clock_named(
                fmt::format("file {} node {}", held.first_quote().place.file, held.node));
        }
        if (held.begin && held.end && held.end->at.ts_ns < held.begin->at.ts_ns)
            contradict(
                fmt::format("epoch {} of node {} ended before it began", held.epoch, held.node),
                held.begin->quote, held.end->quote);
    }
}

/// The incarnation to which a file belongs that does not begin with its start, as after a rotation.
const Run* History::run_before(const Leadership& held) const {
    const auto found = runs_by_time_.find(held.node);
    if (found == runs_by_time_.end()) return nullptr;
    const auto& runs = found->second;
    const auto next = after(runs, held.from().time_ns);
    if (next == runs.begin()) return nullptr;
    const Run& last = *std::prev(next);
    // After another boot, whose start is not in the files, the clock may have begun anew.
    return last.begun.ts_ns <= held.from().ts_ns ? &last : nullptr;
}

const Run* History::next_run(const Leadership& held) const {
    const auto found = runs_by_time_.find(held.node);
    if (found == runs_by_time_.end()) return nullptr;
    const auto& runs = found->second;
    auto next = after(runs, held.from().time_ns);
    while (next != runs.end() && next->clock == held.clock &&
           next->begun.ts_ns <= held.from().ts_ns)
        ++next;
    return next == runs.end() ? nullptr : &*next;
}

std::optional<std::string> History::mixture() const {
    for (const auto& [named, what] :
         {std::pair(&clusters_, "cluster"), std::pair(&cluster_ids_, "the cluster with the id")}) {
        if (named->size() < 2) continue;
        const auto& [name, place] = *named->begin();
        const auto& [other, other_place] = *std::next(named->begin());
        return fmt::format("{} is of {} {}, and {} of {} {}", text(place), what, in_quotes(name),
                           text(other_place), what, in_quotes(other));
    }
    // Members may have been replaced, but some stay each time: so lists of one cluster hang
    // together.
    if (member_lists_.empty()) return std::nullopt;
    const auto& [first, place] = *member_lists_.begin();
    std::set<std::uint64_t> together = first;
    const auto shares = [&](const std::set<std::uint64_t>& list) {
        return std::any_of(list.begin(), list.end(),
                           [&](std::uint64_t id) { return together.contains(id); });
    };
    for (std::size_t size = 0; size != together.size();) {
        size = together.size();
        for (const auto& [list, where] : member_lists_)
            if (shares(list)) together.insert(list.begin(), list.end());
    }
    for (const auto& [list, where] : member_lists_)
        if (!shares(list))
            return fmt::format("{} names the members {}, and {} the members {}", text(place),
                               fmt::join(first, ","), text(where), fmt::join(list, ","));
    return std::nullopt;
}

std::vector<std::uint64_t> History::missing() const {
    std::vector<std::uint64_t> missing;
    std::set_difference(members_.begin(), members_.end(), nodes_.begin(), nodes_.end(),
                        std::back_inserter(missing));
    return missing;
}

}  // namespace bullring::audit
