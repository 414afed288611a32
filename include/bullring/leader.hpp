// Owns: the description of a leader that the library gives.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <bullring/export.hpp>

namespace bullring {

struct Leader {
    std::uint64_t id = 0;
    std::uint64_t epoch = 0;  // the fencing token: rises with each leadership
    std::string advertised;   // that node's `advertise`: where to reach it
    bool operator==(const Leader&) const = default;
};

struct Change {
    enum class Kind {
        leader,   // another leader is followed, or none
        elected,  // this node leads from now on
        deposed,  // this node no longer leads, and its task has returned
        members,  // the list of members has changed: Node::members() has it
    };
    Kind kind = Kind::leader;
    /// CLOCK_BOOTTIME, by which leases are judged.
    std::chrono::nanoseconds at{0};
    /// Whom this process follows at that moment, itself included; of `deposed` never itself.
    std::optional<Leader> leader;
    /// Of the leadership that began or ended; with no leader, of the last one, 0 at first. It never
    /// falls, but for the `deposed` of a task that has returned after others had been elected.
    std::uint64_t epoch = 0;
    /// Of `deposed`: resigned, preempted, lease_expired, stalled, unhealthy, task_ended,
    /// task_failed, stopped, higher_rank. Else empty.
    std::string reason;
    /// So many changes before this one were lost, because the callback was too slow.
    std::uint64_t missed = 0;
};

/// Must not throw: what it throws is caught, and a line in the log.
using ChangeCallback = std::function<void(const Change&)>;

/// While it exists the callback is called. Its end waits for a call that is under way, unless it
/// comes from that very call. It may outlive what it subscribes to.
class BULLRING_API Subscription {
public:
    Subscription() noexcept = default;
    Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
    Subscription& operator=(Subscription&& other) noexcept {
        if (this != &other) {
            reset();
            end_ = std::exchange(other.end_, nullptr);
        }
        return *this;
    }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() { reset(); }

    void reset() noexcept {
        if (end_) std::exchange(end_, nullptr)();
    }

private:
    friend class Subscribers;
    explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}

    std::function<void()> end_;
};

}  // namespace bullring
