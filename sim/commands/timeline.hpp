// Prints a run as lines for people: the time, the node, and the event.
#pragma once

#include <cstdio>

#include "sim/world/world.hpp"

namespace bullring::sim {

class Timeline : public Observer {
public:
    explicit Timeline(std::FILE* out) : out_(out) {}

    void on_action(const World& world, HostIndex h, Instant now,
                   const protocol::Action& action) override;
    void on_incident(const World& world, const Incident& incident) override;

private:
    void line(const World& world, HostIndex h, const std::string& text);

    std::FILE* out_;
};

}  // namespace bullring::sim
