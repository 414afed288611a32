// Owns: how the leader that a node follows goes, as that node sees it, in few words that whoever
// led and whoever followed have in common: metrics, log, events and HTTP say the same.
#pragma once

#include <string>

#include "protocol/values/actions.hpp"
#include "protocol/values/events.hpp"

namespace bullring {

class LeaderEnd {
public:
    static constexpr const char* first = "first";        // it is the first that this node knows
    static constexpr const char* resigned = "resigned";  // it said so, for whatever reason
    static constexpr const char* died = "died";          // its process ended without a word
    static constexpr const char* lease_expired = "lease_expired";  // nobody heard of it any more
    static constexpr const char* replaced =
        "replaced";  // the next one came before its end was known

    /// Of each step the event first, then the actions in their order.
    void note(const protocol::Event& event);
    void note(const protocol::Action& action);

    /// Of the last change to a leader, itself noted: how the one before went, or `first`; none if
    /// it is the same one in the same epoch, which had been lost from sight. A loss is no such
    /// change: what is heard after it still counts.
    const char* reason() const { return reason_; }
    /// For people: "it has resigned".
    const char* sentence() const;

private:
    void follow(const protocol::LeaderChanged& to);
    const char* way() const;

    protocol::NodeId leader_;  // nobody: it is lost, or there has been none
    protocol::NodeId last_;    // that there was
    protocol::Epoch epoch_;    // its
    const char* seen_ = nullptr;
    const char* reason_ = nullptr;
};

/// For people, behind the next leader: ", after 2.194321s without a leader"; nothing if there was
/// no such time.
std::string after_gap(protocol::Duration gap);

}  // namespace bullring
