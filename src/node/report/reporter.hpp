// Owns: the reports on what a node does: the event stream and the log. Everything is reported a
// millisecond later than it happens, with the time at which it happened: making the lines and
// waking the threads that write them would otherwise compete with the very election that they
// report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/values/actions.hpp"
#include "protocol/values/time.hpp"
#include "src/base/log/log_limit.hpp"
#include "src/node/leaders/leader_log.hpp"
#include "src/node/report/action_trail.hpp"
#include "src/node/report/background_writer.hpp"
#include "src/node/report/events_file.hpp"
#include "src/node/report/majority_log.hpp"
#include "src/node/report/refusal_text.hpp"
#include "src/node/report/role_log.hpp"
#include "src/watch/loop_pulse.hpp"

namespace bullring {

class Reporter {
public:
    /// `events` is where the event stream goes, if there is one; `pulse` shows how much it has of
    /// a leadership; `source_of` says whose host an address is.
    Reporter(asio::io_context& io, const protocol::Config& config, const WayToStart& way,
             BackgroundWriter* writer, std::optional<BackgroundWriter::StreamId> events,
             LoopPulse& pulse, std::function<LogSource(const std::string& address)> source_of);

    /// `id`: of the cluster, as the state file has it; 0: not known yet.
    void started(int pid, protocol::ClusterId id);
    /// In the log alone.
    static void tell_removed();
    /// At once; the others are told with their step.
    void tell_asked(const AskedAction& action) { trail_.tell(event_time_now(), action); }
    /// After each step: the cluster's id as it is known now, and whether a majority is there.
    void note(protocol::Instant now, const protocol::Parts& node);
    /// Where the events go; none: nowhere.
    const LineStream* stream() const { return events_ ? &writer_->stream(*events_) : nullptr; }
    /// One step, and what LeaderLog has made of it. Takes out of the actions what it will report.
    void add(protocol::Instant now, std::vector<protocol::Action>& actions,
             const std::vector<LeaderTurn>& turns);
    /// Somebody has asked that, and has been answered.
    void note(protocol::Instant now, AskedAction action);
    /// Tells everything that waits, and waits a moment until it is written.
    void tell_at_once();
    /// Tells everything that waits, and that the node has stopped.
    void stopped(const std::string& reason);

private:
    struct Step {
        protocol::Instant at;
        std::vector<protocol::Action> actions{};
        std::vector<LeaderTurn> turns{};  // among them
        protocol::ClusterId learned{};    // with it
        std::optional<AskedAction> asked{};
    };

    /// A peer's, up and down; those beyond are told by a limited line.
    struct Changes {
        static constexpr std::chrono::seconds within{60};
        static constexpr int told_max = 10;
        std::chrono::steady_clock::time_point since;
        int count = 0;
    };

    void tell_later();
    void tell_all();
    void tell(const protocol::Action& action);
    void tell_peer(protocol::NodeId peer, const std::string& state);
    void tell_refusal(const protocol::HandshakeRefused& refusal);
    void tell_members(const protocol::Membership& members);
    void write_event(std::string line, const BackgroundWriter::Marks& marks = {});
    BackgroundWriter::Marks marks_of(const protocol::Action& action) const;

    BackgroundWriter* writer_;
    std::optional<BackgroundWriter::StreamId> events_;
    LoopPulse& pulse_;
    EventLines event_lines_;
    ActionTrail trail_;
    RoleLog role_log_;
    MajorityLog majority_log_;
    protocol::NodeId self_;
    protocol::ClusterId cluster_id_;
    WayToStart way_;
    protocol::Membership members_;
    std::function<LogSource(const std::string&)> source_of_;
    asio::steady_timer timer_;
    bool timer_runs_ = false;
    std::vector<Step> steps_;
    std::map<protocol::NodeId, Changes> changes_;
    std::map<protocol::NodeId, protocol::Refused> refusals_;  // said of members: field, here, there
};

}  // namespace bullring
