// The loop of one node: an event goes in, the clock is read, the state machine steps, its actions
// are carried out in their order. One io_context, one thread. Must never wait for anything but the
// next event: no file, no pipe, no lock that is held over one.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/node.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/wake_timer.hpp"
#include "src/node/clock_watch.hpp"
#include "src/node/known_members.hpp"
#include "src/node/metrics/step_counter.hpp"
#include "src/node/net/transport.hpp"
#include "src/node/node_files.hpp"
#include "src/node/observers/observer_sessions.hpp"
#include "src/node/observers/status_json.hpp"
#include "src/node/report/background_writer.hpp"
#include "src/node/report/peer_problems.hpp"
#include "src/node/report/reporter.hpp"
#include "src/node/report/task_record.hpp"
#include "src/node/report/trace_file.hpp"
#include "src/node/report/trace_log.hpp"
#include "src/node/service_notifier.hpp"
#include "src/node/showcase.hpp"
#include "src/security/credential_watch.hpp"
#include "src/settings/node_options.hpp"
#include "src/task/orphan_reaper.hpp"
#include "src/task/task_host.hpp"
#include "src/watch/keeper.hpp"
#include "src/watch/undertaker/undertaker_watch.hpp"

namespace bullring {

class Runtime final : public NodeLink, private TransportHandler {
public:
    /// The parts that are opened before the loop starts.
    struct Parts {
        std::vector<OwnedFd> listeners;
        std::optional<LocalListener> control;  // in the directory of the state
        std::optional<StateDirectory> state;   // none with quorum none
        protocol::Start start;
        BackgroundWriter* writer = nullptr;  // when there are events or a trace
        std::optional<BackgroundWriter::StreamId> events;
        std::optional<BackgroundWriter::StreamId> trace;
        MakeHost make_host;                // none: NoTask
        LoopPulse* pulse = nullptr;        // what the loop shows of itself; none: nobody looks
        const Keeper* keeper = nullptr;    // who watches over a leader; none: nobody
        Undertaker* undertaker = nullptr;  // reports this process's end by notice, or may have to
                                           // end another process with it; none: nobody does
        DeathSecret death_secret{};        // by which it is believed
        Showcase* showcase = nullptr;      // for the thread that serves HTTP; none: there is none
        std::shared_ptr<TlsSource> security;  // null: connections are not secured
        bool handles_signals = true;          // those of a program: SIGTERM, SIGINT, SIGHUP
        ManagerVariables manager;             // who has started this program as a service
        /// Why the loop ends with status 1.
        std::function<void(const std::string&)> tell_failure = &print_error;
    };

    Runtime(const NodeOptions& options, Parts parts);
    ~Runtime() override;

    /// Until shut_down(), SIGTERM, SIGINT or a failure. The exit status: 0, or 1 with a line on
    /// stderr.
    int run();

    void tell(const protocol::Event& event) override;
    void shut_down(const std::string& reason) override;
    void set_health(bool healthy, const std::string& why) override;
    void set_willing(bool willing, const std::string& why) override;
    void set_joining(const std::string& what) override;
    void task_runs(bool runs, const std::string& end) override;
    void lead_commands(std::size_t count) override { task_.lead_commands(count); }
    void attached(std::size_t candidates, const std::optional<AttachedHolder>& holder) override;
    protocol::Instant untied_until() const override {
        return node_.parts().holder.lease().untied_deadline();
    }
    void listen(NodeListener& listener) override { listeners_.push_back(&listener); }

    /// In the loop, after what it is doing now. Any thread.
    void run_soon(std::function<void()> work);
    /// After run(): the host ends, which may take its time, while the sessions are still open.
    void end_host() {
        transport_.keep_sessions(nullptr);
        listeners_.clear();  // they are parts of the host
        host_.reset();
    }

    /// The input of `status`, for an observer or none. The loop's thread, or when it does not run.
    StatusInput status(protocol::SessionId asker = {}) const;

private:
    void on_event(const protocol::Event& event) override;
    void on_request(protocol::SessionId observer, const ObserverMessage& what) override;
    ObserverSessions::DrillAnswer drill(const Drill& what);
    ObserverSessions::Node for_observers();
    void on_observer_gone(protocol::SessionId observer) override;
    /// To whoever has asked.
    void answer(const protocol::ResignAnswer& what);
    void answer(const protocol::MembersAnswer& what);
    void change_members(const protocol::MemberChange& change, protocol::RequestId request);
    void deal_with(const protocol::Membership& members);
    void on_fatal(const std::string& what) override;

    void step(const protocol::Event& event);
    /// Actions that change the world: messages, sessions, the disk.
    void carry_out(const protocol::Action& action);
    /// Actions that can wait until the messages have left.
    void follow_up(protocol::Instant now, const protocol::Action& action);
    void arm_timer(protocol::Instant now);
    void turn_to_the_end();
    void lead_no_more();
    void wait_for_alarm();
    void wait_for_question();
    protocol::View view(protocol::Instant now) const;
    void show(protocol::Instant now, const protocol::Event& event,
              const std::vector<LeaderTurn>& turns);
    void watch_files();
    void on_misplaced(const std::string& why);
    void show_leadership(protocol::Epoch epoch);
    void tell_start();
    void wait_for_signal();
    void finish();
    void finish_when_drained(int attempts_left);

    const NodeOptions& options_;
    asio::io_context io_;
    protocol::Instant started_at_;
    bool had_state_;  // a file with it, at the start
    Sender self_;
    protocol::Node node_;
    DialledMembers members_;
    Transport transport_;
    ObserverSessions observers_;
    DirectoryWatch watch_;
    std::optional<NodeFiles> files_;              // none where nothing is durable
    std::optional<CredentialWatch> credentials_;  // with security
    std::vector<NodeListener*> listeners_;
    std::unique_ptr<TaskHost> host_;
    BackgroundWriter* writer_;
    LoopPulse own_pulse_;  // if nobody else has given one
    LoopPulse& pulse_;
    const Keeper* keeper_;
    Showcase* showcase_;
    LeaderLog leader_log_;
    std::optional<StepCounter> counter_;  // with a showcase
    ClockWatch clock_watch_{io_, options_.config.timing.rho_ppm,
                            showcase_ ? &showcase_->counts().clock_correction_ppm : nullptr};
    Reporter reporter_;
    std::optional<TraceFile> trace_;
    std::optional<TraceLog> trace_log_;  // while the log tells as much
    WakeTimer wake_timer_;
    std::optional<asio::posix::stream_descriptor> alarm_;  // of the keeper
    std::optional<UndertakerWatch> undertaker_;
    std::optional<asio::posix::stream_descriptor> asked_;  // of the showcase
    std::optional<asio::signal_set> signals_;              // of a program alone
    std::optional<OrphanReaper> reaper_;                   // of a program
    std::optional<ServiceNotifier> service_;               // of a program that is a service
    asio::steady_timer drain_timer_;

    std::vector<protocol::Action> actions_;
    std::deque<protocol::Event> pending_;  // what has happened while a step was being carried out
    bool stepping_ = false;
    bool finishing_ = false;
    protocol::HostReasons reasons_;
    PeerProblems problems_{self_.id};
    TaskRecord task_{started_at_};
    std::string credentials_problem_;  // why they have been left as they were; empty: they are read
    std::string misplaced_;            // why the data directory is another one; empty: it is not
    std::function<void(const std::string&)> tell_failure_;
    std::string stop_reason_;
    int exit_status_ = 0;
};

}  // namespace bullring
