// Owns: the changes of leader that each node of a simulated cluster remembers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"
#include "sim/world/world.hpp"
#include "src/node/report/recent_failovers.hpp"

namespace bullring::test {

class WatchedFailovers final : public sim::Observer {
public:
    /// Plays these commands on a cluster of so many nodes.
    WatchedFailovers(const std::string& algorithm, int nodes, const std::string& commands) {
        const std::string text = "nodes " + std::to_string(nodes) + "\nalgorithm " + algorithm +
                                 "\nprofile lan\nseed 11\nat 0s start all\n" + commands;
        sim::RunOptions options;
        options.observers.push_back(this);
        outcome = sim::run(std::get<sim::Scenario>(sim::parse_scenario(text)), options);
    }

    const Failovers& of(std::uint64_t node) { return last_.at(node)->failovers.read(); }

    sim::Outcome outcome;

private:
    void before_step(const sim::World& world, sim::HostIndex h, protocol::Instant,
                     const protocol::Event& event) override {
        const sim::Host& host = world.host(h);
        auto& run = runs_[{host.id.value, host.incarnation.value}];
        if (!run) run = std::make_unique<Run>(world.config(h), host.incarnation);
        last_[host.id.value] = run.get();
        event_ = event;
        actions_.clear();
    }
    void on_action(const sim::World&, sim::HostIndex, protocol::Instant,
                   const protocol::Action& action) override {
        actions_.push_back(action);
    }
    void after_step(const sim::World& world, sim::HostIndex h, protocol::Instant now) override {
        Run& run = *last_.at(world.host(h).id.value);
        run.failovers.add(now, event_, actions_, run.leaders.add(now, event_, actions_));
    }

    struct Run {
        Run(const protocol::Config& config, protocol::Incarnation incarnation)
            : failovers(config, incarnation) {}
        LeaderLog leaders{{}};
        RecentFailovers failovers;
    };

    std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<Run>> runs_;
    std::map<std::uint64_t, Run*> last_;  // by node: of its last run
    protocol::Event event_;
    std::vector<protocol::Action> actions_;
};

}  // namespace bullring::test
