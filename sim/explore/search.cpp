#include "sim/explore/search.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <sys/resource.h>

#include "sim/explore/canonical_digest.hpp"
#include "sim/explore/digest_set.hpp"

namespace bullring::sim::explore {

namespace {

using Clock = std::chrono::steady_clock;

/// So many states are expanded between two looks at the clock; with several jobs, side by side.
constexpr std::size_t block_size = 1024;

/// How a state was reached first.
struct Record {
    std::uint32_t from = 0;
    Move move;
};

struct Successor {
    std::uint64_t digest = 0;
    Move move;
    std::optional<Violation> violation;
};

/// The successors of one state, without what was known before its block.
struct Expansion {
    std::size_t transitions = 0;
    std::vector<Successor> fresh;
};

/// The memory of a job from one state to the next: the states on the way to the last one, which has
/// most of its way in common with the next.
struct Workshop {
    struct Stop {
        std::uint32_t record = UINT32_MAX;
        SmallWorld state;
    };
    Workshop(const SmallWorld& start, Duration old) : digest(old), way{{0, start}}, state(start) {}

    CanonicalDigest digest;
    std::vector<Stop> way;  // by depth; behind the last state, of earlier ways
    std::vector<std::uint32_t> records;
    SmallWorld state;
    std::vector<Move> moves;
};

std::size_t memory_used() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

class Search {
public:
    Search(const SmallWorld& start, const SearchBounds& bounds)
        : bounds_(bounds), began_(Clock::now()) {
        const World& world = start.world;
        bool without_files = false;
        for (HostIndex h = 0; h < world.members(); ++h)
            without_files = without_files || !world.host(h).disk.file;
        const Duration old = longest_look_back(world.config(0), without_files);
        for (unsigned i = 0; i < std::max(bounds.jobs, 1U); ++i)
            workshops_.emplace_back(start, old);
    }

    SearchReport run(const SearchProgress& progress) {
        begin();
        while (!over_ && layer_ < records_.size() && report_.depth < bounds_.depth_max) {
            next_layer();
            measure();
            if (progress) progress(report_);
        }
        if (!over_ && layer_ < records_.size()) end(SearchEnd::depth);
        measure();
        return std::move(report_);
    }

private:
    void begin() {
        Workshop& workshop = workshops_.front();
        known_.insert(workshop.digest.of(workshop.state));
        records_.push_back({});
        report_.states = 1;
        report_.layers = {1};
        if (const auto& violation = workshop.state.checks.violation()) found(*violation, 0, {});
    }

    void next_layer() {
        report_.layers.push_back(0);
        const std::size_t end_of_layer = records_.size();
        for (std::size_t first = layer_; first < end_of_layer && !over_; first += block_size) {
            const std::size_t last = std::min(first + block_size, end_of_layer);
            expand(first, last);
            for (std::size_t i = first; i < last && !over_; ++i)
                take_in(static_cast<std::uint32_t>(i), expansions_[i - first]);
            check_bounds();
        }
        layer_ = end_of_layer;
        if (report_.layers.back() == 0)
            report_.layers.pop_back();
        else if (!over_)
            ++report_.depth;
    }

    void expand(std::size_t first, std::size_t last) {
        expansions_.resize(std::max(expansions_.size(), last - first));
        std::atomic<std::size_t> next = first;
        const auto work = [&](Workshop& workshop) {
            for (std::size_t i = next++; i < last; i = next++)
                expand(static_cast<std::uint32_t>(i), workshop, expansions_[i - first]);
        };
        std::vector<std::thread> helpers;
        for (std::size_t job = 1; job < workshops_.size(); ++job)
            helpers.emplace_back(work, std::ref(workshops_[job]));
        work(workshops_.front());
        for (std::thread& helper : helpers) helper.join();
    }

    /// The state of that record, made anew from the nearest one that the job has kept: millions of
    /// states would take more memory than their moves take time.
    const SmallWorld& reach(std::uint32_t record, Workshop& workshop) const {
        std::vector<std::uint32_t>& records = workshop.records;
        records.assign(report_.depth + 1, record);
        for (std::size_t depth = report_.depth; depth > 0; --depth)
            records[depth - 1] = records_[records[depth]].from;
        while (workshop.way.size() < records.size())
            workshop.way.push_back({UINT32_MAX, workshop.way.front().state});
        std::size_t depth = report_.depth;
        while (workshop.way[depth].record != records[depth]) --depth;
        for (; depth < report_.depth; ++depth) {
            Workshop::Stop& next = workshop.way[depth + 1];
            next.record = records[depth + 1];
            next.state = workshop.way[depth].state;
            next.state.make(records_[next.record].move);
        }
        return workshop.way[depth].state;
    }

    void expand(std::uint32_t record, Workshop& workshop, Expansion& to) const {
        const SmallWorld& from = reach(record, workshop);
        from.find_moves(workshop.moves);
        to.transitions = workshop.moves.size();
        to.fresh.clear();
        for (const Move& move : workshop.moves) {
            workshop.state = from;
            workshop.state.make(move);
            Successor successor{workshop.digest.of(workshop.state), move,
                                workshop.state.checks.violation()};
            if (successor.violation || !known_.contains(successor.digest))
                to.fresh.push_back(std::move(successor));
        }
    }

    void take_in(std::uint32_t from, Expansion& expansion) {
        report_.transitions += expansion.transitions;
        report_.duplicates += expansion.transitions - expansion.fresh.size();
        for (Successor& successor : expansion.fresh) {
            if (successor.violation)
                return found(std::move(*successor.violation), from, successor.move);
            if (!known_.insert(successor.digest)) {
                ++report_.duplicates;
                continue;
            }
            records_.push_back({from, successor.move});
            ++report_.states;
            ++report_.layers.back();
            if (report_.states >= bounds_.states_max) return end(SearchEnd::states);
        }
        expansion.fresh.clear();
    }

    void found(Violation violation, std::uint32_t from, std::optional<Move> move) {
        report_.violation = std::move(violation);
        if (move) report_.path.push_back(*move);
        for (std::uint32_t at = from; at != 0; at = records_[at].from)
            report_.path.push_back(records_[at].move);
        std::reverse(report_.path.begin(), report_.path.end());
        end(SearchEnd::violation);
    }

    void check_bounds() {
        if (over_) return;
        if (Clock::now() - began_ >= bounds_.time_max) end(SearchEnd::time);
        if (memory_used() >= bounds_.memory_max) end(SearchEnd::memory);
    }

    void end(SearchEnd why) {
        report_.end = why;
        over_ = true;
    }

    void measure() {
        report_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
        report_.memory = memory_used();
    }

    SearchBounds bounds_;
    Clock::time_point began_;
    std::vector<Workshop> workshops_;  // one for each job
    DigestSet known_;
    std::vector<Record> records_;        // of the known states, by depth
    std::size_t layer_ = 0;              // where the records begin whose states are to be expanded
    std::vector<Expansion> expansions_;  // of a block
    SearchReport report_;
    bool over_ = false;
};

}  // namespace

SearchReport search(const SmallWorld& start, const SearchBounds& bounds,
                    const SearchProgress& progress) {
    return Search(start, bounds).run(progress);
}

}  // namespace bullring::sim::explore
