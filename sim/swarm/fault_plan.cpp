#include "sim/swarm/fault_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/values/names.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

class Planner {
public:
    Planner(Settings& settings, Time end, bool suspends, Rng& rng)
        : settings_(settings),
          end_(end),
          rng_(rng),
          suspends_(suspends),
          raw_is_wrong_(rng.next()) {}

    void start_all() {
        const bool together = percent(50);
        for (const NodeId id : settings_.ids)
            add(together ? 0 : time(0, sec), Verb::start, target(id));
    }
    void strike(FaultKind kind, Time at);
    void half_rolled_address();
    std::vector<Command> take() {
        std::stable_sort(plan_.begin(), plan_.end(),
                         [](const Command& x, const Command& y) { return x.at < y.at; });
        std::erase_if(plan_, [this](const Command& c) { return c.at >= end_; });
        return std::move(plan_);
    }

private:
    bool percent(std::uint64_t p) { return rng_.below(100) < p; }
    Time time(Time min, Time max) {
        return min + static_cast<Time>(rng_.below(static_cast<std::uint64_t>(max - min) + 1));
    }
    /// Short ones are as likely as long ones.
    Time spell() {
        const Time longest[] = {ms, 10 * ms, 100 * ms, sec, 4 * sec};
        return time(1, longest[rng_.below(5)]);
    }
    static Target target(NodeId id) { return {Target::Kind::id, id}; }
    NodeId any() { return settings_.ids[rng_.below(settings_.ids.size())]; }
    Target somebody() {
        if (percent(35)) return {Target::Kind::leader, {}};
        return target(any());
    }
    Command& add(Time at, Verb verb, Target a) {
        Command& command = plan_.emplace_back();
        command.at = at;
        command.verb = verb;
        command.a = a;
        return command;
    }
    void crash(Time at);
    void pause(Time at, Verb verb);
    void cut(Time at, bool one_way);
    void flap(Time at);
    void between_two(Time at, Verb verb, const char* word);
    void flap_best(Time at);
    void lose_disk(Time at, const char* word);
    void bad_disk(Time at, const char* word);
    void task(Time at);
    void rates(Time at);
    void within_step(Command& command) {
        if (percent(30)) command.number = static_cast<std::int64_t>(1 + rng_.below(6));
    }

    Settings& settings_;
    Time end_;
    Rng& rng_;
    bool suspends_;
    std::uint64_t raw_is_wrong_;  // by node: which of its clocks may be
    std::vector<Command> plan_;
};

void Planner::crash(Time at) {
    Command& command = add(at, Verb::crash, somebody());
    if (percent(20)) command.word = "reset";
    if (command.word.empty()) within_step(command);
    // All nodes are started, for the victim is not known yet; a running one ignores it.
    const Time back = at + spell();
    for (const NodeId id : settings_.ids) add(back, Verb::start, target(id));
}

void Planner::pause(Time at, Verb verb) {
    const Target who = target(any());
    Command& command = add(at, verb, percent(35) ? Target{Target::Kind::leader, {}} : who);
    if (verb == Verb::pause) within_step(command);
    const Time back = at + spell();
    for (const NodeId id : settings_.ids) add(back, Verb::resume, target(id));
}

void Planner::cut(Time at, bool one_way) {
    const Time back = at + spell();
    const std::uint64_t shape = rng_.below(4);
    if (shape == 0) {
        add(at, Verb::isolate, somebody());
        add(back, Verb::heal, {Target::Kind::all, {}});
        return;
    }
    if (shape == 1) {
        // Two sides.
        std::vector<NodeId> left;
        std::vector<NodeId> right;
        for (const NodeId id : settings_.ids) (percent(50) ? left : right).push_back(id);
        for (const NodeId a : left)
            for (const NodeId b : right) {
                Command& command = add(at, Verb::cut, target(a));
                command.b = target(b);
                command.word = one_way ? ">" : "-";
            }
        add(back, Verb::heal, {Target::Kind::all, {}});
        return;
    }
    const NodeId a = any();
    const NodeId b = any();
    if (a == b) return;
    for (const auto& [when, verb] : {std::pair{at, Verb::cut}, std::pair{back, Verb::heal}}) {
        Command& command = add(when, verb, target(a));
        command.b = target(b);
        command.word = one_way && verb == Verb::cut ? ">" : "-";
    }
}

/// The best node's links go away for a moment whenever it has had time to take over.
void Planner::flap_best(Time at) {
    const std::uint64_t times = 2 + rng_.below(3);
    for (std::uint64_t i = 0; i < times; ++i) {
        add(at, Verb::isolate, {Target::Kind::highest, {}});
        at += time(100 * ms, 500 * ms);
        add(at, Verb::heal, {Target::Kind::all, {}});
        at += settings_.preempt_delay.ns + time(100 * ms, sec);
    }
}

void Planner::flap(Time at) {
    if (percent(25)) return flap_best(at);
    const NodeId a = any();
    const NodeId b = any();
    if (a == b) return;
    const Time period = time(5 * ms, 300 * ms);
    const std::uint64_t times = 2 + rng_.below(8);
    for (std::uint64_t i = 0; i < 2 * times; ++i) {
        Command& command =
            add(at + static_cast<Time>(i) * period, i % 2 == 0 ? Verb::cut : Verb::heal, target(a));
        command.b = target(b);
        command.word = "-";
    }
}

void Planner::between_two(Time at, Verb verb, const char* word) {
    const NodeId a = any();
    const NodeId b = any();
    if (a == b) return;
    Command& command = add(at, verb, target(a));
    command.b = target(b);
    command.word = word;
}

void Planner::lose_disk(Time at, const char* word) {
    const NodeId id = any();
    add(at, percent(50) ? Verb::crash : Verb::power_off, target(id));
    add(at, Verb::disk, target(id)).word = word;
    const Time back = at + spell();
    if (std::string(word) == "torn") add(back, Verb::start, target(id));  // which refuses
    add(back, Verb::disk, target(id)).word = std::string(word) == "torn" ? "lost" : "good";
    add(back, Verb::start, target(id));
}

void Planner::bad_disk(Time at, const char* word) {
    const NodeId id = any();
    Command& command = add(at, Verb::disk, target(id));
    command.word = word;
    command.duration = command.word == "slow" ? time(ms, 500 * ms) : -1;
    const Time back = at + spell();
    add(back, Verb::disk, target(id)).word = "good";
    add(back, Verb::start, target(id));
}

void Planner::task(Time at) {
    const std::uint64_t what = rng_.below(4);
    if (what == 3) {
        add(at, Verb::stall, {Target::Kind::leader, {}});
        return;
    }
    const char* const words[] = {"ends", "fails", "hangs"};
    const Target who = what == 2 ? somebody() : Target{Target::Kind::leader, {}};
    add(at, Verb::task, who).word = words[what];
    if (what != 2) return;
    const Time back = at + spell();
    for (const NodeId id : settings_.ids) add(back, Verb::task, target(id)).word = "returns";
}

void Planner::rates(Time at) {
    const NodeId id = any();
    Command& command = add(at, Verb::rates, target(id));
    const auto within = static_cast<Time>(settings_.rho_ppm);
    command.number = time(-within, within);
    command.number2 = time(-within, within);
    // One of the two may be wrong by a lot (a slew, a stopped counter), and it is always the same
    // one of a node, or no clock would be right for the length of a lease; both only when marked.
    // A machine that may be suspended needs its boot clock.
    const Time wrong = time(-200'000, 200'000);
    if (settings_.beyond_rho) {
        command.number = command.number2 = wrong;
    } else if (percent(50)) {
        const bool raw = suspends_ || (raw_is_wrong_ >> id.value % 64 & 1U) != 0;
        (raw ? command.number2 : command.number) = wrong;
    }
    Command& back = add(at + spell(), Verb::rates, target(id));
    back.number = back.number2 = 0;
}

/// Member `moved` is started anew at another address while its old process lives, and some of the
/// others get the new address. Then a partition, not for as long as P(lease-max), separates
/// those who know the one from those who know the other. Each of the two processes has a majority
/// on its side, or none has.
void Planner::half_rolled_address() {
    const NodeId moved = any();
    const Target second{Target::Kind::second, {}};
    std::vector<NodeId> left;
    std::vector<NodeId> rolled;
    for (const NodeId id : settings_.ids)
        if (id != moved) (left.empty() || percent(50) ? left : rolled).push_back(id);
    if (rolled.empty()) {
        rolled.push_back(left.back());
        left.pop_back();
    }
    Time at = time(sec, 3 * sec);
    add(at, Verb::second, target(moved));
    for (const NodeId id : rolled) {
        at += time(ms, 500 * ms);
        add(at, Verb::crash, target(id));
        Command& readdress = add(at, Verb::readdress, target(id));
        readdress.b = target(moved);
        readdress.word = ">";
        at += time(3 * ms, 500 * ms);
        add(at, Verb::start, target(id));
    }
    at += time(0, 4 * sec);
    const Timing timing = config_of(settings_, moved).timing;
    const Time apart = timing.promise(timing.lease_max).ns / 2 - timing.suspect_after.ns;
    const auto cut = [&](Target a, Target b) {
        Command& command = add(at, Verb::cut, a);
        command.b = b;
        command.word = "-";
    };
    for (const NodeId a : left) {
        for (const NodeId b : rolled) cut(target(a), target(b));
        cut(target(a), second);
    }
    for (const NodeId b : rolled) cut(target(moved), target(b));
    add(at + std::max<Time>(apart, ms), Verb::heal, {Target::Kind::all, {}});
    add(at + apart + time(ms, 2 * sec), Verb::crash, percent(50) ? second : target(moved));
}

void Planner::strike(FaultKind kind, Time at) {
    switch (kind) {
        case FaultKind::crash: return crash(at);
        case FaultKind::power: {
            const NodeId id = any();
            add(at, Verb::power_off, target(id));
            add(at + spell(), Verb::start, target(id));
            return;
        }
        case FaultKind::stop: {
            add(at, Verb::stop, somebody());
            const Time back = at + spell();
            for (const NodeId id : settings_.ids) add(back, Verb::start, target(id));
            return;
        }
        case FaultKind::pause: return pause(at, Verb::pause);
        case FaultKind::suspend: return pause(at, Verb::suspend);
        case FaultKind::slow: {
            const NodeId id = any();
            add(at, Verb::slow, target(id)).duration = time(10 * us, 5 * ms);
            add(at + spell(), Verb::slow, target(id)).duration = 0;
            return;
        }
        case FaultKind::clock: return rates(at);
        case FaultKind::partition: return cut(at, false);
        case FaultKind::one_way: return cut(at, true);
        case FaultKind::flap: return flap(at);
        case FaultKind::reset: return between_two(at, Verb::reset, "-");
        case FaultKind::forget: return between_two(at, Verb::forget, "-");
        case FaultKind::forged_fin:
            // Where a FIN releases, there must be nobody who can forge it (A5).
            if (settings_.fast_release != FastRelease::fin) between_two(at, Verb::forge_fin, "-");
            return;
        case FaultKind::flip: return between_two(at, Verb::flip, ">");
        case FaultKind::disk_lost:
            return lose_disk(at, settings_.beyond_disk && percent(50) ? "older" : "lost");
        case FaultKind::disk_torn: return lose_disk(at, "torn");
        case FaultKind::disk_slow: return bad_disk(at, "slow");
        case FaultKind::disk_failing: return bad_disk(at, "failing");
        case FaultKind::task: return task(at);
        case FaultKind::health: {
            const Target who = percent(15) ? Target{Target::Kind::all, {}} : somebody();
            add(at, Verb::health, who).word = "bad";
            const Time back = at + spell();
            for (const NodeId id : settings_.ids) add(back, Verb::health, target(id)).word = "good";
            return;
        }
        case FaultKind::resign: {
            Command& command = add(at, Verb::resign, {Target::Kind::leader, {}});
            if (percent(40)) command.b = target(any());
            return;
        }
        case FaultKind::second:
            // With one member alone two processes of one id cannot be distinguished.
            if (settings_.ids.size() > 1) add(at, Verb::second, target(any()));
            return;
    }
}

}  // namespace

std::vector<Command> plan_faults(Settings& settings,
                                 const std::optional<std::vector<FaultKind>>& wanted, Time end,
                                 Rng& rng) {
    std::vector<FaultKind> kinds;
    if (wanted) {
        kinds = *wanted;
    } else {
        for (const FaultKind kind : enumerators<FaultKind>()) {
            const std::uint64_t second = settings.ids.size() == 1 ? 0 : 4;
            const std::uint64_t chance = kind == FaultKind::second ? second : 35;
            if (rng.below(100) < chance) kinds.push_back(kind);
        }
    }
    const auto is_on = [&](FaultKind kind) {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    // A cluster that counts from 1 has to keep its disks.
    if (is_on(FaultKind::disk_lost) || is_on(FaultKind::disk_torn))
        settings.first_epoch = FirstEpoch::clock;
    settings.beyond_rho = is_on(FaultKind::clock) && !wanted && rng.below(100) < 4;
    settings.beyond_disk = is_on(FaultKind::disk_lost) && !wanted && rng.below(100) < 4;

    Planner planner(settings, end, is_on(FaultKind::suspend), rng);
    planner.start_all();
    // Half of the runs are dense, where one fault hits what another has left behind.
    const Time between = rng.below(2) == 0 ? 150 * ms : sec;
    Time at = static_cast<Time>(rng.below(static_cast<std::uint64_t>(sec)));
    while (!kinds.empty() && at < end) {
        planner.strike(kinds[rng.below(kinds.size())], at);
        at += static_cast<Time>(rng.below(static_cast<std::uint64_t>(2 * between)));
    }
    return planner.take();
}

std::vector<Command> plan_half_rolled_address(Settings& settings, Time end, Rng& rng) {
    // The second process begins with an empty disk.
    settings.first_epoch = FirstEpoch::clock;
    settings.loss_ppm = 0;
    settings.beyond_rho = settings.beyond_disk = false;
    Planner planner(settings, end, false, rng);
    planner.start_all();
    planner.half_rolled_address();
    return planner.take();
}

}  // namespace bullring::sim
