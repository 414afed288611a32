// Owns: the results of the rounds of a drill: the figures of each kind of fault, and the verdict.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/time.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring::drill {

/// A round in which nobody led by then has failed.
constexpr protocol::Duration without_leader_max(protocol::Duration lease) { return lease * 3; }

struct Round {
    DrillRequest fault;
    protocol::Duration lease;                          // of the leader that the fault happened to
    std::optional<protocol::Duration> without_leader;  // none: nobody led while it was waited for
    bool two_leaders = false;

    bool late() const { return !without_leader || *without_leader > without_leader_max(lease); }
};

class Tally {
public:
    void add(const Round& round) { rounds_.push_back(round); }
    std::size_t rounds() const { return rounds_.size(); }
    /// No two nodes led at once, and each round had a leader in time.
    bool sound() const;
    /// One sentence for each thing that was not sound.
    std::vector<std::string> complaints() const;

    /// A line for each kind of fault that has happened.
    std::string table() const;
    /// `not_back`: a member that was not there, at which the drill ended.
    std::string json(const std::string& cluster, protocol::NodeId not_back) const;

private:
    std::vector<Round> rounds_;
};

/// The smallest value that no more than the share `1 - p` of them exceeds (nearest rank). `times`
/// is in order and not empty.
protocol::Duration percentile(const std::vector<protocol::Duration>& times, double p);

}  // namespace bullring::drill
