#include "src/node/report/reporter.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/boot_name.hpp"
#include "src/base/os/clock.hpp"
#include "src/node/report/members_text.hpp"
#include "src/settings/survival_note.hpp"

namespace bullring {

using protocol::Instant;

namespace {

constexpr std::chrono::milliseconds delay{1};
/// Reported at once when so many wait: the delay must not become a queue.
constexpr std::size_t steps_max = 256;
constexpr std::chrono::milliseconds drained_within{100};

/// Whether the host carries it out without a report.
bool is_silent(const protocol::Action& action) {
    return std::holds_alternative<protocol::Send>(action) ||
           std::holds_alternative<protocol::CloseSession>(action) ||
           std::holds_alternative<protocol::DialNow>(action) ||
           std::holds_alternative<protocol::Persist>(action) ||
           std::holds_alternative<protocol::Publish>(action) ||
           std::holds_alternative<protocol::ResignAnswer>(action);
}

/// Of what this node itself has ended a line before says why: bytes that are no message, a peer
/// that does not read, a silence without a state file that is over, another cluster.
const char* in_words(protocol::PeerDownReason reason) {
    switch (reason) {
        case protocol::PeerDownReason::eof: return "its connection has ended";
        case protocol::PeerDownReason::reset: return "its connection was reset";
        case protocol::PeerDownReason::timeout: return "nothing is heard of it";
        case protocol::PeerDownReason::refused: return "one of the two refuses the other";
        case protocol::PeerDownReason::protocol: break;
    }
    return "this node has ended its connection";
}

std::string down_text(protocol::PeerDownReason reason) {
    return fmt::format("down: {} ({})", in_words(reason), protocol::name(reason));
}

}  // namespace

Reporter::Reporter(asio::io_context& io, const protocol::Config& config, const WayToStart& way,
                   BackgroundWriter* writer, std::optional<BackgroundWriter::StreamId> events,
                   LoopPulse& pulse, std::function<LogSource(const std::string&)> source_of)
    : writer_(writer),
      events_(events),
      pulse_(pulse),
      event_lines_(config),
      trail_(config.self, writer, events),
      role_log_(config.self),
      self_(config.self),
      way_(way),
      members_(config.members),
      source_of_(std::move(source_of)),
      timer_(io) {}

void Reporter::started(int pid, protocol::ClusterId id) {
    cluster_id_ = id;
    write_event(event_lines_.started(event_time_now(), pid, boot_name(), id));
}

void Reporter::note(Instant now, const protocol::Parts& node) {
    if (majority_log_.note(now, node)) tell_later();
    const protocol::ClusterId id = node.cluster_id();
    if (id == cluster_id_) return;
    cluster_id_ = id;
    steps_.push_back(Step{now, {}, {}, id, {}});
    tell_later();
}

void Reporter::note(Instant now, AskedAction action) {
    steps_.push_back(Step{now, {}, {}, {}, std::move(action)});
    tell_later();
}

void Reporter::tell_at_once() {
    tell_all();
    if (writer_ != nullptr) writer_->drain(drained_within);
}

void Reporter::stopped(const std::string& reason) {
    tell_all();
    write_event(event_lines_.stopped(event_time_now(), reason));
    log(LogLevel::info, "stopped: " + reason);
}

void Reporter::add(Instant now, std::vector<protocol::Action>& actions,
                   const std::vector<LeaderTurn>& turns) {
    Step* step = nullptr;
    for (protocol::Action& action : actions) {
        if (is_silent(action)) continue;
        if (step == nullptr) step = &steps_.emplace_back(Step{now, {}, turns, {}, {}});
        step->actions.push_back(std::move(action));
    }
    if (step == nullptr) return;
    if (steps_.size() >= steps_max) {
        tell_all();
    } else {
        tell_later();
    }
}

void Reporter::tell_later() {
    if (timer_runs_) return;
    timer_runs_ = true;
    timer_.expires_after(delay);
    timer_.async_wait([this](const asio::error_code& error) {
        timer_runs_ = false;
        if (!error) tell_all();
    });
}

void Reporter::tell_all() {
    const EventTime now = event_time_now();
    for (const Step& step : steps_) {
        const std::int64_t ago = now.ts_ns - step.at.boottime_ns;
        const EventTime then{step.at.boottime_ns, now.wall_clock_ns - ago};
        if (step.learned) write_event(event_lines_.cluster(then, step.learned));
        if (step.asked) trail_.tell(then, *step.asked);
        auto turn = step.turns.begin();
        for (const protocol::Action& action : step.actions) {
            if (std::holds_alternative<protocol::LeaderChanged>(action))
                write_event(event_lines_.leader(then, *turn++));
            else if (events_)
                write_event(event_lines_.of(then, action), marks_of(action));
            tell(action);
        }
        role_log_.note(step.actions, step.turns);
    }
    steps_.clear();
    majority_log_.tell();
}

void Reporter::tell(const protocol::Action& action) {
    if (const auto* up = std::get_if<protocol::PeerUp>(&action)) {
        refusals_.erase(up->peer);
        tell_peer(up->peer, "up");
    } else if (const auto* down = std::get_if<protocol::PeerDown>(&action)) {
        tell_peer(down->peer, down_text(down->reason));
    } else if (const auto* refused = std::get_if<protocol::HandshakeRefused>(&action)) {
        tell_refusal(*refused);
    } else if (const auto* note = std::get_if<protocol::Note>(&action)) {
        using Level = protocol::Note::Level;
        const LogLevel level = note->level == Level::info ? LogLevel::info : LogLevel::warn;
        if (log_enabled(level)) log_limited(level, note->text, {}, note->text);
    } else if (const auto* now = std::get_if<protocol::DealWith>(&action)) {
        members_ = now->members;
    } else if (const auto* changed = std::get_if<protocol::MembersChanged>(&action)) {
        tell_members(changed->members);
    }
}

void Reporter::tell_peer(protocol::NodeId peer, const std::string& state) {
    const auto now = std::chrono::steady_clock::now();
    Changes& changes = changes_[peer];
    if (now - changes.since > Changes::within) changes = {now, 0};
    if (++changes.count <= Changes::told_max)
        return log(LogLevel::info, fmt::format("peer {} is {}", peer.value, state));
    log_limited(LogLevel::warn, "comes and goes", {std::to_string(peer.value)},
                fmt::format("peer {} comes and goes; now it is {}", peer.value, state));
}

void Reporter::tell_members(const protocol::Membership& members) {
    if (!members.changed()) return;  // those that `--peers` has
    log(LogLevel::info, "the members are " + members_text(members));
    if (members.find(self_) == nullptr) {
        tell_removed();
    } else if (const std::string note = survival_note(members); !note.empty()) {
        log(LogLevel::warn, note);
    }
}

void Reporter::tell_removed() {
    log(LogLevel::warn,
        "this node has been removed from the members: it neither votes nor leads, and may be "
        "stopped");
}

void Reporter::tell_refusal(const protocol::HandshakeRefused& refusal) {
    const protocol::Refused& what = refusal.difference;
    const std::string& here = refusal.by_us ? what.mine : what.yours;
    const std::string& there = refusal.by_us ? what.yours : what.mine;
    LogSource source = source_of_(refusal.address);
    const bool of_member =
        !refusal.by_us || (source.member && members_.index(refusal.peer).has_value());
    const protocol::Refused difference{what.field, here, there};
    if (of_member) {
        // Both dial, so each pair refuses twice: one line says it, whoever was first.
        const auto said = refusals_.find(refusal.peer);
        if (said != refusals_.end() && said->second == difference) return;
        source = {std::to_string(refusal.peer.value)};
    } else {
        source.member = false;
    }
    const std::string who =
        refusal.by_us ? fmt::format("refused node {} at {}", refusal.peer.value, refusal.address)
                      : fmt::format("refused by node {}", refusal.peer.value);
    const bool is_no_member = differs_in(what, protocol::Difference::member);
    const bool said = log_limited(
        is_no_member ? LogLevel::info : LogLevel::error, "refused", source,
        fmt::format("{} in the handshake: {}", who, refusal_text(refusal, self_, way_)));
    if (said && of_member) refusals_[refusal.peer] = difference;
}

/// For the process that outlives this one (last_event.hpp).
BackgroundWriter::Marks Reporter::marks_of(const protocol::Action& action) const {
    if (const auto* elected = std::get_if<protocol::Elected>(&action))
        return {{}, {&pulse_.recorded, elected->epoch.value}};
    if (const auto* deposed = std::get_if<protocol::Deposed>(&action))
        return {{&pulse_.recording_end, deposed->epoch.value}, {&pulse_.recorded, 0}};
    return {};
}

void Reporter::write_event(std::string line, const BackgroundWriter::Marks& marks) {
    if (events_ && !line.empty()) writer_->write(*events_, std::move(line), marks);
}

}  // namespace bullring
