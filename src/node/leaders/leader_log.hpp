// Owns: who led when and how each leader went, as this node sees it. Fed once a step; metrics, log,
// events, HTTP and the page are handed its turns, so that all of them say the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/actions.hpp"
#include "protocol/values/events.hpp"
#include "protocol/values/time.hpp"

namespace bullring {

/// How a leader went: the word that those who followed it and it itself have in common.
enum class LeaderEnd : std::uint8_t {
    first,          // there was none: the next one is the first that this node knows
    replaced,       // the next one came before its end was known
    resigned,       // it said so, for whatever reason
    died,           // its process ended without a word
    lease_expired,  // nobody heard of it any more
};
const char* name(LeaderEnd end);

/// One LeaderChanged, with what else is known of it at that instant.
struct LeaderTurn {
    protocol::Instant at;
    protocol::LeaderChanged what;
    /// Of a change to a leader, how the one before went; none: it is the same one in the same
    /// epoch, which had been lost from sight.
    std::optional<LeaderEnd> before{};
    /// Of a loss, for people: "it has resigned".
    const char* loss = "";
    /// Since when this node knows of nobody who led, until `at`, or, of a loss, on and on.
    protocol::Instant unled_since{};

    /// Without a leader before this one; none: there was none to be lost, or there is none now.
    std::optional<protocol::Duration> gap() const;
};

class LeaderLog {
public:
    /// There is no leader from `started` on, as far as this node knows.
    explicit LeaderLog(protocol::Instant started) : found_(started) {}

    /// One step. Its turns, in the order of its LeaderChanged; valid until the next step.
    const std::vector<LeaderTurn>& add(protocol::Instant now, const protocol::Event& event,
                                       const std::vector<protocol::Action>& actions);

private:
    void note(const protocol::Event& event);
    void note(protocol::Instant now, const protocol::Action& action);
    void turn(protocol::Instant now, const protocol::LeaderChanged& to);
    std::optional<LeaderEnd> followed_by(const protocol::LeaderChanged& to);
    const char* loss() const;

    protocol::NodeId leader_;          // nobody: it is lost, or there has been none
    protocol::NodeId last_;            // that there was
    protocol::Epoch epoch_;            // its
    protocol::Instant found_;          // it
    std::optional<LeaderEnd> seen_{};  // of its end
    std::vector<LeaderTurn> turns_;    // of the step
};

/// For people, behind the next leader: ", after 2.194321s without a leader"; nothing if there was
/// no such time.
std::string after_gap(protocol::Duration gap);

}  // namespace bullring
