// Writes down what the nodes of a world say, and what happens to them, as trace lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/trace_recorder.hpp"
#include "sim/world/world.hpp"

namespace bullring::sim {

class TraceObserver : public Observer {
public:
    const std::string& text() const { return text_; }
    std::vector<std::string> lines() const;
    /// When the first of them was written; 0 if there is none.
    Time began() const { return began_.value_or(0); }

    void before_step(const World& world, HostIndex h, Instant now,
                     const protocol::Event& event) override;
    void on_action(const World& world, HostIndex h, Instant now,
                   const protocol::Action& action) override;
    void on_incident(const World& world, const Incident& incident) override;

private:
    void note_begin(const World& world);
    protocol::TraceRecorder& recorder(const World& world, HostIndex h);

    std::vector<std::pair<Incarnation, protocol::TraceRecorder>> recorders_;  // by host
    std::string text_;
    std::optional<Time> began_;
};

}  // namespace bullring::sim
