#include "sim/explore/search.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <sys/resource.h>

#include "sim/explore/digest_set.hpp"
#include "sim/explore/state_pool.hpp"

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

struct Waiting {
    std::uint32_t record = 0;
    PackedState state;
};

struct Successor {
    std::uint64_t digest = 0;
    Move move;
    std::optional<Violation> violation;
    PackedState state;
    OwnParts own;
};

/// The successors of one state, without what was known before its block.
struct Expansion {
    std::size_t transitions = 0;
    std::vector<Successor> fresh;
};

/// The buffers of a job, kept because making them anew takes time.
struct Workshop {
    explicit Workshop(const OldAges& old) : digest(old) {}

    CanonicalDigest digest;
    WorldState from;
    WorldState state;
    std::vector<Move> moves;
};

std::size_t memory_used() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

class Search {
public:
    Search(const SmallWorld& world, const WorldState& start, const SearchBounds& bounds)
        : world_(world), bounds_(bounds), began_(Clock::now()) {
        for (unsigned i = 0; i < std::max(bounds.jobs, 1U); ++i)
            workshops_.emplace_back(world.old_ages(start));
    }

    SearchReport run(const WorldState& start, const SearchProgress& progress) {
        begin(start);
        while (!over_ && !layer_.empty() && report_.depth < bounds_.depth_max) {
            next_layer();
            measure();
            if (progress) progress(report_);
        }
        if (!over_ && (unexpanded_ || !layer_.empty())) end(SearchEnd::depth);
        measure();
        return std::move(report_);
    }

private:
    void begin(const WorldState& start) {
        known_.insert(workshops_.front().digest.of(start));
        records_.push_back({});
        report_.states = 1;
        report_.layers = {1};
        if (auto violation = world_.check(start)) return found(std::move(*violation), 0, {});
        PackedState nothing;
        nothing.hosts.resize(start.hosts.size(), std::make_shared<const Host>());
        OwnParts own;
        layer_.push_back({0, pack(start, nothing, own)});
    }

    void next_layer() {
        report_.layers.push_back(0);
        for (std::size_t first = 0; first < layer_.size() && !over_; first += block_size) {
            const std::size_t last = std::min(first + block_size, layer_.size());
            expand(first, last);
            for (std::size_t i = first; i < last && !over_; ++i) {
                take_in(layer_[i].record, expansions_[i - first]);
                layer_[i].state = {};
            }
            check_bounds();
        }
        if (report_.layers.back() == 0)
            report_.layers.pop_back();
        else if (!over_)
            ++report_.depth;
        layer_ = std::exchange(next_, {});
        pool_.sweep();
    }

    void expand(std::size_t first, std::size_t last) {
        expansions_.resize(std::max(expansions_.size(), last - first));
        std::atomic<std::size_t> next = first;
        const auto work = [&](Workshop& workshop) {
            for (std::size_t i = next++; i < last; i = next++)
                expand(layer_[i].state, workshop, expansions_[i - first]);
        };
        std::vector<std::thread> helpers;
        for (std::size_t job = 1; job < workshops_.size(); ++job)
            helpers.emplace_back(work, std::ref(workshops_[job]));
        work(workshops_.front());
        for (std::thread& helper : helpers) helper.join();
    }

    void expand(const PackedState& packed, Workshop& workshop, Expansion& to) const {
        packed.unpack(workshop.from);
        world_.moves(workshop.from, workshop.moves);
        to.transitions = workshop.moves.size();
        to.fresh.clear();
        for (const Move& move : workshop.moves) {
            workshop.state = workshop.from;
            Successor successor;
            successor.violation = world_.make(workshop.state, move);
            successor.digest = workshop.digest.of(workshop.state);
            if (!successor.violation && known_.contains(successor.digest)) continue;
            successor.move = move;
            successor.state = pack(workshop.state, packed, successor.own);
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
            const auto record = static_cast<std::uint32_t>(records_.size());
            records_.push_back({from, successor.move});
            ++report_.states;
            ++report_.layers.back();
            // Where nothing follows, the state itself is not needed.
            if (report_.depth + 1 < bounds_.depth_max) {
                pool_.share(successor.state, successor.own);
                next_.push_back({record, std::move(successor.state)});
            } else {
                unexpanded_ = true;
            }
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

    const SmallWorld& world_;
    SearchBounds bounds_;
    Clock::time_point began_;
    std::vector<Workshop> workshops_;  // one for each job
    DigestSet known_;
    std::vector<Record> records_;  // of the known states
    StatePool pool_;
    std::vector<Waiting> layer_;
    std::vector<Waiting> next_;
    std::vector<Expansion> expansions_;  // of a block
    SearchReport report_;
    bool over_ = false;
    bool unexpanded_ = false;
};

}  // namespace

SearchReport search(const SmallWorld& world, const WorldState& start, const SearchBounds& bounds,
                    const SearchProgress& progress) {
    return Search(world, start, bounds).run(start, progress);
}

}  // namespace bullring::sim::explore
