#include "sim/complexity/failover_count.hpp"

#include <algorithm>
#include <vector>

#include "sim/scenario/runner.hpp"
#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

class Counter : public Observer {
public:
    explicit Counter(std::size_t members) : informed_(members, false) {}

    bool complete() const { return complete_; }
    const FailoverCount& count() const { return count_; }

    void on_incident(const World& world, const Incident& incident) override {
        if (incident.kind != "crash" || counting_) return;
        counting_ = true;
        began_ = world.now();
        informed_[incident.host] = true;
        leases_ = world.config(0).timing.lease;
    }

    void on_action(const World& world, HostIndex h, Instant, const Action& action) override {
        if (!counting_ || complete_) return;
        if (const auto* send = std::get_if<Send>(&action)) {
            const Message& message = send->message;
            if (!counts(message) || !reaches_a_living(world, send->session)) return;
            ++count_.messages;
            ++count_.of_kind[message.index()];
            return;
        }
        const auto* changed = std::get_if<LeaderChanged>(&action);
        if (changed == nullptr) return;
        informed_[h] = static_cast<bool>(changed->leader);
        complete_ = std::all_of(informed_.begin(), informed_.end(), [](bool is) { return is; });
        if (complete_) count_.took = world.now() - began_;
    }

private:
    /// The formulas do not count messages to the dead node.
    static bool reaches_a_living(const World& world, SessionId session) {
        const Side other = World::side_of(session) == dialler_side ? acceptor_side : dialler_side;
        return world.host(world.connection_of(session).ends[other].host).running();
    }

    bool counts(const Message& message) const {
        if (std::holds_alternative<Heartbeat>(message) || std::holds_alternative<Hello>(message) ||
            std::holds_alternative<HelloAck>(message) || std::holds_alternative<Refused>(message))
            return false;
        // The grant of a renewal informs nobody of anything.
        const auto* grant = std::get_if<Grant>(&message);
        return grant == nullptr || grant->lease != leases_;
    }

    std::vector<bool> informed_;
    bool counting_ = false;
    bool complete_ = false;
    Time began_ = 0;
    Duration leases_{0};
    FailoverCount count_;
};

Command command(Verb verb, Target::Kind who, Time duration = -1) {
    Command c;
    c.relative = true;
    c.verb = verb;
    c.a.kind = who;
    c.duration = duration;
    return c;
}

}  // namespace

std::optional<FailoverCount> count_failover(const Settings& settings) {
    Scenario scenario;
    scenario.settings = settings;
    scenario.commands = {
        command(Verb::start, Target::Kind::all),
        command(Verb::expect_leader, Target::Kind::highest, 60 * sec),
        command(Verb::wait, Target::Kind::none, 3 * sec),
        command(Verb::crash, Target::Kind::leader),
        command(Verb::wait, Target::Kind::none, sec),
        command(Verb::expect_leader, Target::Kind::none, 60 * sec),
        command(Verb::wait, Target::Kind::none, sec),
    };
    Counter counter(settings.ids.size());
    RunOptions options;
    options.observers.push_back(&counter);
    options.judge = false;
    const Outcome outcome = run(scenario, options);
    if (outcome.violation || !counter.complete()) return std::nullopt;
    return counter.count();
}

const FailoverMessages& formulas(Algorithm algorithm, QuorumMode quorum) {
    const AlgorithmRow& row = algorithm_row(algorithm);
    return quorum == QuorumMode::none ? row.of_the_textbook : row.messages;
}

Complexity measure(Algorithm algorithm, QuorumMode quorum, std::size_t nodes, std::uint64_t seeds) {
    Settings settings;
    settings.ids.clear();
    for (std::uint64_t id = 1; id <= nodes; ++id) settings.ids.push_back({id});
    settings.algorithm = algorithm;
    settings.quorum = quorum;
    settings.drift_ppm = 0;
    settings.fsync = {0, 0};
    // A round of all nodes has to be over before those who wait for it have waited enough.
    settings.delay = {20 * us, 20 * us};
    Complexity found;
    found.nodes = nodes;
    found.best_formula = formulas(algorithm, quorum).best.of(nodes);
    found.worst_formula = formulas(algorithm, quorum).worst.of(nodes);
    if (const auto count = count_failover(settings)) found.best = count->messages;
    found.worst = found.best;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        settings.seed = seed;
        const Time longest[] = {ms, 4 * ms, 12 * ms};
        settings.delay = {0, longest[seed % 3]};
        if (const auto count = count_failover(settings))
            found.worst = std::max(found.worst, count->messages);
    }
    return found;
}

}  // namespace bullring::sim
