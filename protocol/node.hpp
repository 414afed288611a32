// The public face of the state machine: event in, actions out.
#pragma once

#include <cstdint>
#include <tuple>
#include <variant>
#include <vector>

#include "protocol/parts.hpp"
#include "protocol/selectors/bully.hpp"
#include "protocol/selectors/ring.hpp"
#include "protocol/values/view.hpp"

namespace bullring::protocol {

using AnySelector = std::variant<Bully, Ring>;

/// One node of the cluster (protocol/README.md). Copyable and comparable, with no clock, I/O or
/// thread in it, so that what runs in production is what a simulator runs; copies share nothing but
/// what never changes. The host reads the clocks after each event and hands them in; it carries out
/// the actions in their order. Not thread-safe.
class Node {
public:
    /// The host calls step(now, Wake{}) at once afterwards, so that the first actions come out.
    Node(const Config& config, const Start& start);

    /// Handles one event and appends what has to be done to `out`. Throws nothing of its own; a
    /// message that makes no sense here is dropped.
    void step(Instant now, const Event& event, std::vector<Action>& out);

    /// How long the host may sleep before it owes a Wake; `forever` when nothing is pending. Being
    /// early does no harm, being late costs time, never safety.
    Duration until_wake(Instant now) const;

    /// The node's knowledge, judged at `now`.
    View view(Instant now, const HostReasons& reasons = {}) const;

    /// The state behind the view, for those who check it from outside.
    const Parts& parts() const { return parts_; }

    /// Equal nodes have equal digests; for state spaces and replays.
    std::uint64_t digest() const;

    bool operator==(const Node&) const = default;
    /// All of the state but the configuration, for digests other than its own.
    auto digest_fields() const { return std::tie(parts_, selector_); }

private:
    void handle(Step& step, const Event& event);
    void receive(Step& step, const Receive& received);
    void receive_from(Step& step, const AcceptedSession& from, const Message& message);
    void advance(Step& step);
    void report(Step& step);

    Parts parts_;
    AnySelector selector_;
};

}  // namespace bullring::protocol
