// Owns: what a node remembers of the work that it does as the leader, for people: the command of
// `run`, the addresses of `address`, the library's task; how many commands of `lead` run; and the
// attached processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "protocol/values/time.hpp"
#include "src/task/task_host.hpp"

namespace bullring {

/// An attached process that leads.
struct ShownHolder {
    std::int64_t pid = 0;
    std::string name;
    std::int64_t for_ms = 0;
    bool operator==(const ShownHolder&) const = default;
};

/// At an instant.
struct ShownTask {
    bool running = false;
    std::int64_t for_ms = 0;   // it has run, or has not run, for so long
    std::uint64_t starts = 0;  // since the node's start
    std::string last_end;      // that nobody has asked for; empty: there was none
    std::int64_t last_end_ago_ms = 0;
    std::uint64_t lead_commands = 0;
    std::uint64_t candidates = 0;  // attached processes that want to lead, or do
    std::optional<ShownHolder> holder{};
    bool operator==(const ShownTask&) const = default;
};

class TaskRecord {
public:
    explicit TaskRecord(protocol::Instant started_at) : since_(started_at) {}

    void began(protocol::Instant now) {
        task_.running = true;
        ++task_.starts;
        since_ = now;
    }
    /// `end`: how, unless it was asked to; it may not even have begun.
    void ended(protocol::Instant now, const std::string& end) {
        if (task_.running) since_ = now;
        task_.running = false;
        if (end.empty()) return;
        task_.last_end = end;
        ended_at_ = now;
    }
    void lead_commands(std::size_t count) { task_.lead_commands = count; }

    void attached(std::size_t candidates, const std::optional<AttachedHolder>& holder) {
        task_.candidates = candidates;
        holder_ = holder;
    }

    ShownTask shown(protocol::Instant now) const {
        ShownTask shown = task_;
        if (holder_) shown.holder = {holder_->pid, holder_->name, ms_from(holder_->since, now)};
        shown.for_ms = ms_from(since_, now);
        if (ended_at_) shown.last_end_ago_ms = ms_from(*ended_at_, now);
        return shown;
    }

private:
    static std::int64_t ms_from(protocol::Instant begin, protocol::Instant now) {
        return protocol::elapsed(begin, now).ns / 1'000'000;
    }

    ShownTask task_;
    protocol::Instant since_;
    std::optional<protocol::Instant> ended_at_;
    std::optional<AttachedHolder> holder_;
};

}  // namespace bullring
