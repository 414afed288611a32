// Reports the world's events to checkers, traces, timelines and counts. These see everything and
// change nothing.
#pragma once

#include <string_view>

#include "protocol/values/actions.hpp"
#include "protocol/values/events.hpp"
#include "sim/world/client.hpp"
#include "sim/world/types.hpp"

namespace bullring::sim {

class World;

/// The kind of an incident that is a move by hand; its detail says which.
inline constexpr std::string_view move_incident = "move";

/// An event of a machine or a link, in the words of traces and timelines.
struct Incident {
    std::string_view kind;  // "start", "crash", "pause", "cut", …
    HostIndex host = 0;
    HostIndex peer = 0;  // of a link
    bool has_host = true;
    bool has_peer = false;
    std::string_view detail;
};

class Observer {
public:
    virtual ~Observer() = default;
    virtual void before_step(const World&, HostIndex, Instant, const protocol::Event&) {}
    /// Before the action is carried out.
    virtual void on_action(const World&, HostIndex, Instant, const protocol::Action&) {}
    virtual void after_step(const World&, HostIndex, Instant) {}
    /// Of an attached process; has just been written.
    virtual void on_page(const World&, HostIndex, const Client&) {}
    virtual void on_incident(const World&, const Incident&) {}
};

}  // namespace bullring::sim
