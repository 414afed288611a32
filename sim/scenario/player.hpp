// One play of one scenario: the world, its checks, and what the scenario has marked.
#pragma once

#include <optional>
#include <vector>

#include "sim/check/checks.hpp"
#include "sim/scenario/run_digest.hpp"
#include "sim/scenario/runner.hpp"

namespace bullring::sim {

class Player : private Observer {
public:
    Player(const Scenario& scenario, const RunOptions& options);

    Outcome play();

private:
    // player.cpp
    void play(const Command& command);
    void move(const Command& command);
    void run_until(Time at);
    template <class Condition>
    bool wait_for(Time limit, Condition condition);
    std::vector<HostIndex> hosts_of(const Target& target) const;
    std::optional<HostIndex> host_of(const Target& target) const;
    void on_action(const World& world, HostIndex h, Instant now,
                   const protocol::Action& action) override;

    // player_faults.cpp
    void incident(const Command& command);
    void on_each(const Command& command);
    void crash(HostIndex h, const Command& command);
    void pause(HostIndex h, const Command& command);
    void disk(HostIndex h, const Command& command);
    void task(HostIndex h, const Command& command);
    void client(HostIndex h, const std::string& does);
    void links(const Command& command);
    void calm();
    void tell_link(std::string_view kind, HostIndex a, HostIndex b);

    // player_expectations.cpp
    void expect(const Command& command);
    void expect_leader(const Command& command);
    void expect_holder(const Command& command);
    void unmet(const Command& command, const char* check, const std::string& found);
    std::string leader_text() const;

    const Scenario& scenario_;
    const RunOptions& options_;
    World world_;
    Checks checks_;
    RunDigest digest_;
    Outcome outcome_;
    int line_ = 0;

    struct Mark {
        std::uint64_t elections = 0;
        std::uint64_t persists = 0;
        std::optional<HostIndex> leader;
        Epoch epoch;
        std::vector<std::pair<HostIndex, protocol::DeposedReason>> deposed;
    };
    Mark mark_;
    std::uint64_t persists_ = 0;
};

}  // namespace bullring::sim
