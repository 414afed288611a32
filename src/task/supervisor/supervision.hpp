// Decides when a leader's command is started and ended, in the order of PROTOCOL R5: a pure state
// machine. Events of the node (elected, deposed) and of the command (started, ended, stopped) go
// in, orders come out; no clock, no process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/values/events.hpp"
#include "protocol/values/time.hpp"
#include "src/settings/run_options.hpp"

namespace bullring {

struct CommandEnd {
    enum class How {
        by_itself,
        asked,        // by this node
        deadline,     // by its guard, because the lease was about to end
        lost,         // its guard has died, and with it the command
        not_started,  // `error`
    };
    How how = How::by_itself;
    int status = 0;  // of waitpid(); not with not_started
    int error = 0;
    bool had_terminal = false;
};

class Supervision {
public:
    struct Policy {
        OnExit on_exit = OnExit::stay;
        protocol::Duration restart_delay = protocol::seconds(1);
        std::optional<std::int64_t> max_restarts;
        std::string command = {};  // its name, for people
        std::string kind = "its command";
        protocol::Duration longest_restart_delay = restart_delay_max;
        std::optional<protocol::Duration> restart_delay_if_killed = {};
    };
    struct StartCommand {
        protocol::Epoch epoch;
        bool operator==(const StartCommand&) const = default;
    };
    /// SIGTERM, later SIGKILL; on_ended() follows.
    struct EndCommand {
        protocol::Epoch epoch;
        bool operator==(const EndCommand&) const = default;
    };
    struct Tell {
        protocol::Event event;
        bool operator==(const Tell&) const = default;
    };
    struct SetWilling {
        bool willing = true;
        std::string why;
        bool operator==(const SetWilling&) const = default;
    };
    /// on_restart_due() after this time.
    struct WaitToRestart {
        protocol::Duration delay;
        bool operator==(const WaitToRestart&) const = default;
    };
    /// The node leaves, with exit_status().
    struct Leave {
        std::string reason;
        bool operator==(const Leave&) const = default;
    };
    using Order = std::variant<StartCommand, EndCommand, Tell, SetWilling, WaitToRestart, Leave>;
    using Orders = std::vector<Order>;

    /// A command that ends within this time counts as one that cannot work.
    static constexpr protocol::Duration soon = protocol::seconds(10);

    explicit Supervision(Policy policy)
        : policy_(std::move(policy)), delay_(policy_.restart_delay) {}

    Orders on_elected(protocol::Epoch epoch, protocol::Duration now);
    Orders on_deposed(protocol::Epoch epoch);
    /// The node is asked to end, whether it leads or already steps down.
    void on_stopping() { leaving_ = true; }
    Orders on_stalled();
    /// Nothing of the command is left.
    Orders on_ended(const CommandEnd& end, protocol::Duration now);
    /// Or somebody has asked for it.
    Orders on_restart_due();

    /// How it has ended, as people are told; empty: as it was asked to. Before on_ended().
    std::string unasked_end(const CommandEnd& end) const;

    /// After so many restarts in a row: it only votes, until somebody has it tried again.
    bool has_given_up() const { return gave_up_; }
    bool command_runs() const { return phase_ != Phase::idle; }
    protocol::Epoch epoch() const { return epoch_; }
    /// Of the whole program: the command's, if this node's end has ended it or it has ended this
    /// node; else 0.
    int exit_status() const { return exit_status_; }

private:
    enum class Phase { idle, running, ending };

    void after_the_end(const CommandEnd& end, protocol::Duration ran, Orders& orders);
    void stand_aside(const std::string& what, bool was_soon, Orders& orders);
    void stand_aside_if_killed(const std::string& what, bool was_soon, Orders& orders);
    static void wait_to_restart(const std::string& what, protocol::Duration delay, Orders& orders);

    Policy policy_;
    Phase phase_ = Phase::idle;
    protocol::Epoch epoch_;
    protocol::Duration started_at_;
    bool stalled_ = false;
    bool leaving_ = false;  // the node is asked to end
    protocol::Duration delay_;
    std::int64_t restarts_in_a_row_ = 0;
    bool gave_up_ = false;
    int exit_status_ = 0;
};

/// 128 + n for a signal, as shells have it.
int exit_status_of(int wait_status);
/// "exit 3", "signal 9".
std::string status_text(int wait_status);

}  // namespace bullring
