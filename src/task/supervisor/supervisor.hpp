// Owns: a leader's command on the side of the node: it carries out the orders of Supervision
// through the guard, and ends everything itself if the guard dies or hangs. Also passes on the
// signals that a user sends to `bullring run` and means for the command.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "src/base/os/wake_timer.hpp"
#include "src/task/address/holder.hpp"
#include "src/task/session_keeper.hpp"
#include "src/task/supervisor/guard_process.hpp"
#include "src/task/supervisor/progress_watch.hpp"
#include "src/task/supervisor/supervision.hpp"
#include "src/task/task_host.hpp"
#include "src/watch/lease_page.hpp"
#include "src/watch/undertaker/undertaker.hpp"
#include "src/wire/codec.hpp"

namespace bullring {

/// The parts that are opened before the loop starts.
struct SupervisorParts {
    SharedLeasePage& page;
    Sender self;                       // in whose name the guard has the last word
    std::vector<int> directory_locks;  // the guard keeps them while a command may run
    Undertaker* undertaker = nullptr;  // it has the last word instead of the guard; null: none
    bool ignores_hangup = false;       // SIGHUP was ignored when this program was started
};

class Supervisor final : public TaskHost, private SessionKeeper {
public:
    Supervisor(asio::io_context& io, NodeLink& node, const RunOptions& options,
               SupervisorParts parts);
    ~Supervisor() override;

    /// Once, before the loop starts.
    tl::expected<void, std::string> prepare();

    void start(protocol::Epoch epoch) override;
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason) override;
    void try_again() override;
    void publish(const protocol::Publish& publish) override;

    void stopping() override { supervision_.on_stopping(); }
    /// The end of an address has no status of its own.
    int exit_status() const override {
        return options_.device.empty() ? supervision_.exit_status() : 0;
    }

    /// N6.1: the undertaker speaks for the guard, too.
    SessionKeeper* session_keeper() override {
        return parts_.undertaker == nullptr ? this : nullptr;
    }

private:
    void opened(protocol::SessionId session, int descriptor) override;
    void closed(protocol::SessionId session) override;

    void obey(const Supervision::Orders& orders);
    void carry_out(const Supervision::Order& order);
    void start_command(protocol::Epoch epoch);
    void end_command(protocol::Epoch epoch);
    void on_report(const GuardReport& report);
    void on_end(const CommandEnd& end);
    void on_guard_lost();
    void watch_guard();
    void clear_up();
    pid_t shield_at_work() const;
    std::optional<protocol::Instant> last_moment() const;
    void report_not_started(int error);
    void spawn_guard();
    void instruct_guard();
    void wait_for_signal();

    NodeLink& node_;
    const RunOptions& options_;
    SupervisorParts parts_;
    Supervision supervision_;
    HeldAddresses held_addresses_;
    protocol::Duration kill_safety_;
    std::unique_ptr<GuardProcess> guard_;
    ProgressWatch progress_;
    asio::signal_set signals_;
    asio::steady_timer restart_timer_;
    /// When a guard that ends the command has to be through; never: it ends none.
    protocol::Instant overdue_at_ = protocol::never;
    WakeTimer overdue_timer_;
    asio::steady_timer clear_up_timer_;
    pid_t command_ = 0;  // its process group, while it runs
    bool clearing_up_ = false;
    int clean_looks_ = 0;
    protocol::Instant shield_until_ = protocol::never;  // the shield of a dead guard has so long
    /// For a guard that takes the place of one that was lost.
    std::map<protocol::SessionId, OwnedFd> kept_;
};

}  // namespace bullring
