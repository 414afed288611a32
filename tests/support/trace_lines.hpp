// An artificial trace for the tests of diagrams: who sent what to whom when, written with the
// product's own format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "protocol/trace/trace.hpp"

namespace bullring::test {

class TraceLines {
public:
    static constexpr std::int64_t us = 1'000;

    /// Times are microseconds; node n's only run has the incarnation 100 + n.
    void start(std::int64_t at, std::uint64_t node, std::uint64_t members = 3) {
        protocol::Config config;
        config.self = {node};
        std::vector<protocol::NodeId> ids;
        for (std::uint64_t id = 1; id <= members; ++id) ids.push_back({id});
        config.members = protocol::Membership(ids);
        config.timing.heartbeat = protocol::milliseconds(50);
        std::string line;
        protocol::append_trace_start(line, time(at, node), incarnation(node), config);
        lines.push_back(line);
    }

    void send(std::int64_t at, std::uint64_t from, std::uint64_t to,
              const protocol::Message& message) {
        lines.push_back(
            line_of(protocol::TraceDirection::send, at, from, to, message, sent_[{from, to}]++));
    }

    void receive(std::int64_t at, std::uint64_t from, std::uint64_t to,
                 const protocol::Message& message) {
        lines.push_back(line_of(protocol::TraceDirection::recv, at, from, to, message,
                                received_[{from, to}]++));
    }

    void message(std::int64_t sent, std::uint64_t from, std::int64_t received, std::uint64_t to,
                 const protocol::Message& message) {
        send(sent, from, to, message);
        receive(received, from, to, message);
    }

    void event(std::int64_t at, std::uint64_t node, std::string_view kind,
               protocol::TraceMark mark = {}) {
        mark.time = time(at, node);
        mark.node = {node};
        if (node != 0) mark.incarnation = incarnation(node);
        mark.kind = kind;
        lines.push_back(protocol::trace_event_line(mark));
    }

    void peer_down(std::int64_t at, std::uint64_t node, std::uint64_t peer,
                   std::string_view reason) {
        protocol::TraceMark mark;
        mark.peer = {peer};
        mark.reason = reason;
        event(at, node, "peer_down", mark);
    }

    void publish(std::int64_t at, std::uint64_t node, std::uint64_t epoch, std::int64_t until) {
        protocol::TraceMark mark;
        mark.epoch = protocol::Epoch{epoch};
        if (epoch != 0) mark.until = protocol::Instant{until * us, until * us};
        event(at, node, "publish", mark);
    }

    void of_epoch(std::int64_t at, std::uint64_t node, std::string_view kind, std::uint64_t epoch) {
        protocol::TraceMark mark;
        mark.epoch = protocol::Epoch{epoch};
        event(at, node, kind, mark);
    }

    void follows(std::int64_t at, std::uint64_t node, std::uint64_t leader, std::uint64_t epoch) {
        protocol::TraceMark mark;
        mark.leader = protocol::NodeId{leader};
        mark.epoch = protocol::Epoch{epoch};
        event(at, node, "leader", mark);
    }

    std::string text() const {
        std::string all;
        for (const std::string& line : lines) all += line;
        return all;
    }

    bool simulated = true;           // else without the true time
    std::vector<std::int64_t> skew;  // by node: what its clocks show beyond that, in microseconds
    std::vector<std::string> lines;

private:
    protocol::TraceTime time(std::int64_t at, std::uint64_t node = 0) const {
        const std::int64_t shown = at + (node < skew.size() ? skew[node] : 0);
        protocol::TraceTime time{protocol::Instant{shown * us, shown * us}};
        if (simulated) time.true_ns = at * us;
        return time;
    }

    static protocol::Incarnation incarnation(std::uint64_t node) { return {100 + node}; }

    std::string line_of(protocol::TraceDirection direction, std::int64_t at, std::uint64_t from,
                        std::uint64_t to, const protocol::Message& message,
                        std::uint64_t index) const {
        const bool sending = direction == protocol::TraceDirection::send;
        protocol::TraceEntry entry;
        const std::uint64_t here = sending ? from : to;
        const std::uint64_t there = sending ? to : from;
        entry.time = time(at, here);
        entry.node = {here};
        entry.incarnation = incarnation(here);
        entry.direction = direction;
        entry.peer = {there};
        entry.peer_incarnation = incarnation(there);
        entry.session = {from * 10 + to};
        entry.index = index;
        return protocol::trace_line(entry, message);
    }

    using Way = std::tuple<std::uint64_t, std::uint64_t>;
    std::map<Way, std::uint64_t> sent_;
    std::map<Way, std::uint64_t> received_;
};

inline protocol::Coordinator coordinator(std::uint64_t epoch, bool renew = false) {
    protocol::Coordinator message;
    message.epoch = {epoch};
    message.renew = renew;
    return message;
}

inline protocol::Grant grant(std::uint64_t epoch) {
    protocol::Grant message;
    message.epoch = {epoch};
    return message;
}

/// Three nodes: 3 leads, dies, and 2 takes over.
inline TraceLines failover() {
    TraceLines trace;
    for (std::uint64_t node = 1; node <= 3; ++node) trace.start(0, node);
    trace.of_epoch(1000, 3, "elected", 7);
    trace.publish(1000, 3, 7, 500'000);
    trace.follows(1100, 1, 3, 7);
    trace.follows(1100, 2, 3, 7);
    trace.message(90'000, 3, 90'200, 1, protocol::Heartbeat{});
    trace.event(100'000, 3, "crash");
    trace.peer_down(100'300, 1, 3, "eof");
    trace.follows(100'300, 1, 0, 7);
    trace.peer_down(100'500, 2, 3, "eof");
    trace.of_epoch(100'500, 2, "election_started", 8);
    trace.send(100'500, 2, 1, coordinator(8));
    trace.send(100'500, 2, 3, coordinator(8));
    trace.receive(100'800, 2, 1, coordinator(8));
    trace.message(100'800, 1, 101'000, 2, grant(8));
    trace.publish(101'000, 2, 8, 350'000);
    trace.of_epoch(101'000, 2, "elected", 8);
    trace.message(101'000, 2, 101'200, 1, coordinator(8, true));
    trace.follows(101'200, 1, 2, 8);
    trace.message(101'200, 1, 101'400, 2, grant(8));
    trace.message(151'000, 2, 151'200, 1, coordinator(8, true));
    trace.message(151'200, 1, 151'400, 2, grant(8));
    trace.event(200'000, 1, "peer_up");
    return trace;
}

}  // namespace bullring::test
