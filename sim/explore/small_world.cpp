#include "sim/explore/small_world.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/explore/world_checks.hpp"

namespace bullring::sim::explore {

using namespace protocol;

namespace {

/// The longest that anything in the protocol looks back, and a little. (But for how long a user's
/// last resign has been over: an hour.)
Duration longest_look_back(const Config& config, bool without_files) {
    const Timing& t = config.timing;
    Duration longest = std::max({t.promise(t.lease), t.suspect_after, t.campaign_wait});
    if (config.preempt) longest = std::max(longest, t.preempt_delay);
    // A start without a file waits for the others, or for the longest of all promises.
    if (without_files) longest = std::max({longest, config.bootstrap_wait, t.promise(t.lease_max)});
    return longest + milliseconds(1);
}

}  // namespace

SmallWorld::SmallWorld(const SmallWorldOptions& options) : options_(options) {
    std::vector<NodeId> ids;
    for (std::size_t i = 0; i < options_.nodes; ++i) ids.push_back({i + 1});
    for (const NodeId id : ids) {
        Config config;
        config.self = id;
        config.members = Membership(ids);
        config.algorithm = options_.algorithm;
        TimingRequest request;
        request.profile = options_.profile;
        request.preempt_delay = options_.preempt_delay;
        config.timing = make_timing(request, options_.nodes, options_.algorithm);
        config.preempt = options_.preempt;
        config.first_epoch = FirstEpoch::zero;  // 1, 2, 3: paths are read by people
        configs_.push_back(config);
    }
}

OldAges SmallWorld::old_ages(const WorldState& start) const {
    const bool without_files = std::any_of(start.hosts.begin(), start.hosts.end(),
                                           [](const Host& host) { return !host.disk; });
    return {longest_look_back(configs_.front(), without_files), options_.delay_max};
}

const char* name(StartState start) {
    switch (start) {
        case StartState::cold: return "cold";
        case StartState::settled: return "settled";
    }
    return no_name;
}

WorldState SmallWorld::start(StartState from) const {
    switch (from) {
        case StartState::cold: return cold();
        case StartState::settled: break;
    }
    return settled();
}

WorldState SmallWorld::cold(RealTime at) const {
    WorldState state;
    state.now = at;
    state.faults_left = options_.faults;
    state.hosts.resize(options_.nodes);
    for (std::size_t i = 0; i < options_.nodes; ++i) make(state, move_of(MoveKind::restart, i));
    return state;
}

WorldState SmallWorld::settled() const {
    WorldState state;
    state.hosts.resize(options_.nodes);
    // Not in step with one another, as in life.
    const RealTime apart =
        configs_.front().timing.heartbeat.ns / static_cast<RealTime>(options_.nodes);
    for (std::size_t i = 0; i < options_.nodes; ++i) {
        run_quietly(state, static_cast<RealTime>(i) * apart);
        make(state, move_of(MoveKind::restart, i));
    }
    constexpr RealTime patience = seconds(60).ns;
    const auto led = [&] {
        for (std::size_t i = 0; i < options_.nodes; ++i)
            if (leads(state, i)) return true;
        return false;
    };
    while (!led() && state.now < patience) run_quietly(state, state.now + apart);
    run_quietly(state, state.now + 2 * longest_look_back(configs_.front(), true).ns);
    if (!led()) throw std::logic_error("nobody leads a small world without faults");
    state.faults_left = options_.faults;
    return state;
}

/// Everything arrives at once and every disk answers at once; afterwards nothing is left to be done
/// before `until`. Who has not been started stays down.
void SmallWorld::run_quietly(WorldState& state, RealTime until) const {
    std::vector<Move> all;
    for (;;) {
        moves(state, all);
        const auto next = std::find_if(all.begin(), all.end(), [](const Move& move) {
            return move.kind != MoveKind::restart;
        });
        const bool later = next == all.end() || (next->kind == MoveKind::wake &&
                                                 state.hosts[next->node()].wake_at > until);
        if (later) break;
        make(state, *next);
    }
    state.now = std::max(state.now, until);
}

std::optional<Violation> SmallWorld::check(const WorldState& state) const {
    return check_leases(state);
}

std::string SmallWorld::content_name(const WorldState& state, const Move& move) const {
    const bool delivers = move.kind == MoveKind::deliver || move.kind == MoveKind::answer;
    const Session* session = delivers ? find_session(state, move.session) : nullptr;
    if (session == nullptr) return "";
    const auto& flying =
        move.kind == MoveKind::deliver ? session->to_acceptor : session->to_dialler;
    return flying.empty() ? "" : name(*flying.front().content);
}

}  // namespace bullring::sim::explore
