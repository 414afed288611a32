#include "src/task/supervisor/supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/values/timing.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/settings/data_files.hpp"
#include "src/task/supervisor/descendants.hpp"

namespace bullring {

using protocol::Epoch;

namespace {

/// How much later than it should a guard may be through, if the lease allows it: a busy machine is
/// no reason to kill it.
constexpr protocol::Duration guard_late_max = protocol::seconds(1);
/// How long the shield of a dead guard may take for what it does at once if it has a core.
constexpr protocol::Duration shield_end_max = protocol::milliseconds(50);
/// How much longer than its command may take a guard is waited for at the end of the program.
constexpr protocol::Duration guard_end_max = protocol::seconds(1);

std::chrono::nanoseconds as_chrono(protocol::Duration duration) {
    return std::chrono::nanoseconds(duration.ns);
}

protocol::Duration now() { return {read_clock().boottime_ns}; }

std::string progress_file_of(const RunOptions& options) {
    return options.node.data_dir + "/" + progress_file_name;
}

GuardSettings guard_settings_of(const RunOptions& options, bool ignores_hangup) {
    GuardSettings settings;
    settings.terminal_group = ::getpgrp();
    settings.kill_after = options.kill_after;
    settings.margin = options.node.config.timing.kill_margin;
    settings.kill_safety = settings.margin - settings.kill_after;
    // Where the keeper waits longer, or for ever, the guard has ended the command long before: then
    // there is nothing left to wait for.
    settings.node_pause = options.node.config.timing.pause;
    if (options.node.hang_after.ns > 0)
        settings.node_pause = std::min(settings.node_pause, options.node.hang_after);
    settings.id = std::to_string(options.node.config.self.value);
    settings.cluster = options.node.config.cluster;
    if (options.stall_after.ns > 0) settings.progress_file = progress_file_of(options);
    settings.events_file = options.node.events_file;
    settings.log_format = options.node.log.format;
    settings.ignores_hangup = ignores_hangup;
    settings.descriptor_limit = descriptor_limit_before();
    settings.device = options.device;
    settings.command = options.command;
    return settings;
}

/// The name of the work, for people.
std::string work_of(const RunOptions& options) {
    if (options.device.empty()) return options.command.front();
    return fmt::format("{} on {}", fmt::join(options.command, ", "), options.device);
}

CommandEnd::How how(GuardReport::Cause cause) {
    switch (cause) {
        case GuardReport::Cause::by_itself: return CommandEnd::How::by_itself;
        case GuardReport::Cause::asked: return CommandEnd::How::asked;
        case GuardReport::Cause::deadline: return CommandEnd::How::deadline;
        case GuardReport::Cause::lost: break;
    }
    return CommandEnd::How::lost;
}

}  // namespace

Supervisor::Supervisor(asio::io_context& io, NodeLink& node, const RunOptions& options,
                       SupervisorParts parts)
    : node_(node),
      options_(options),
      parts_(parts),
      supervision_({options.on_exit, options.restart_delay, options.max_restarts, work_of(options),
                    options.device.empty() ? "its command" : "the holder of its address",
                    options.longest_restart_delay, options.restart_delay_if_killed}),
      held_addresses_(options.device, options.command),
      kill_safety_(options.node.config.timing.kill_margin - options.kill_after),
      guard_(std::make_unique<GuardProcess>(
          io, guard_settings_of(options, parts_.ignores_hangup), parts_.page.fd(),
          GuardProcess::Callbacks{[this](const GuardReport& report) { on_report(report); },
                                  [this] { on_guard_lost(); }})),
      progress_(io, options.stall_after, [this] { obey(supervision_.on_stalled()); }),
      signals_(io),
      restart_timer_(io),
      overdue_timer_(io, [this] { watch_guard(); }),
      clear_up_timer_(io) {}

Supervisor::~Supervisor() {
    // The guard ends what still runs; this process waits for that, and then looks for itself.
    guard_->wait(options_.kill_after + guard_end_max);
    int clean_looks = 0;
    while (clean_looks < 2) {
        const bool alive = kill_descendants(::getpid(), own_children(), true) > 0;
        clean_looks = !reap_orphans() || alive ? 0 : clean_looks + 1;
        if (clean_looks > 0 && !held_addresses_.take_off()) clean_looks = 0;
        if (clean_looks == 0) std::this_thread::sleep_for(look_for_descendants_every);
    }
}

tl::expected<void, std::string> Supervisor::prepare() {
    count_as_own(children_of_this_process());
    // A process that outlives the guard and its shield becomes a child of this process.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (options_.stall_after.ns > 0) {
        auto watched = progress_.watch_file(progress_file_of(options_));
        if (!watched) return watched;
        if (parts_.undertaker != nullptr) parts_.undertaker->hold(progress_.descriptor());
    }
    if (auto spawned = guard_->spawn(); !spawned) return spawned;
    instruct_guard();
    for (const int signal : {SIGUSR1, SIGUSR2, SIGWINCH}) signals_.add(signal);
    // To the node it says "read again", which is no reason to end what has no handler for it.
    if (options_.pass_hup) signals_.add(SIGHUP);
    wait_for_signal();
    return {};
}

// ---- What the node says.

void Supervisor::publish(const protocol::Publish& publish) {
    // While it steps down the command has until the end that was published last.
    if (publish.epoch) parts_.page->write({publish.epoch, publish.deadline});
}

void Supervisor::start(Epoch epoch) { obey(supervision_.on_elected(epoch, now())); }

void Supervisor::stop(Epoch epoch, protocol::DeposedReason) {
    obey(supervision_.on_deposed(epoch));
}

void Supervisor::obey(const Supervision::Orders& orders) {
    for (const Supervision::Order& order : orders) carry_out(order);
}

void Supervisor::carry_out(const Supervision::Order& order) {
    std::visit(
        [this](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, Supervision::StartCommand>) {
                start_command(what.epoch);
            } else if constexpr (std::is_same_v<What, Supervision::EndCommand>) {
                end_command(what.epoch);
            } else if constexpr (std::is_same_v<What, Supervision::Tell>) {
                node_.tell(what.event);
            } else if constexpr (std::is_same_v<What, Supervision::SetWilling>) {
                if (!what.why.empty()) log(LogLevel::warn, what.why);
                node_.set_willing(what.willing, what.why);
            } else if constexpr (std::is_same_v<What, Supervision::WaitToRestart>) {
                restart_timer_.expires_after(as_chrono(what.delay));
                restart_timer_.async_wait([this](const asio::error_code& error) {
                    if (!error) obey(supervision_.on_restart_due());
                });
            } else if constexpr (std::is_same_v<What, Supervision::Leave>) {
                log(LogLevel::warn, what.reason +
                                        "; this node leaves, and the cluster has one "
                                        "voter fewer until it is started again");
                node_.shut_down(what.reason);
            }
        },
        order);
}

void Supervisor::try_again() {
    // Else it does not wait, or its turn has come.
    if (restart_timer_.cancel() == 0 && !supervision_.has_given_up()) return;
    log(LogLevel::info, "SIGHUP: it stands again now");
    obey(supervision_.on_restart_due());
}

// ---- The command.

void Supervisor::start_command(Epoch epoch) {
    OwnedFd progress;
    if (options_.stall_after.ns > 0) progress = progress_.start();
    if (guard_->lost() && !clearing_up_) spawn_guard();
    std::vector<std::byte> last_word;
    if (parts_.undertaker == nullptr)
        // One word for all sessions, whatever version is spoken on each.
        encode(parts_.self, protocol::Message(protocol::Resign{epoch, protocol::nobody}),
               protocol::version_lowest, last_word);
    guard_->start(epoch, progress.get(), last_word);
    // One that has just been lost is cleared up after, which ends this run, too.
    if (guard_->lost() && !clearing_up_) report_not_started(EAGAIN);
}

void Supervisor::end_command(Epoch epoch) {
    progress_.stop();
    guard_->stop(epoch);
    overdue_at_ = read_clock() + options_.kill_after + guard_late_max;
    watch_guard();
}

/// Behind the guard's moment and the shield's, and before the lease ends.
std::optional<protocol::Instant> Supervisor::last_moment() const {
    const auto lease = parts_.page->read();
    if (!lease || lease->epoch != supervision_.epoch()) return std::nullopt;
    return lease->deadline - kill_safety_ / 4;
}

void Supervisor::watch_guard() {
    if (overdue_at_ == protocol::never) return;  // it is through
    const protocol::Instant now = read_clock();
    protocol::Duration left = protocol::elapsed(now, overdue_at_);
    if (const auto moment = last_moment())
        left = std::min(left, protocol::lease_wait(now, *moment));
    if (left.ns <= 0) {
        log(LogLevel::error,
            "the guard of the command does not respond; killing it and the command");
        if (command_ > 0) ::kill(-command_, SIGKILL);
        return guard_->kill();
    }
    overdue_timer_.arm_at(now.boottime_ns + left.ns);
}

void Supervisor::on_report(const GuardReport& report) {
    if (report.epoch != supervision_.epoch().value) return;
    switch (report.kind) {
        case GuardReport::Kind::started:
            command_ = report.pid;
            node_.task_runs(true, {});
            log(LogLevel::info,
                fmt::format("{} {} process {}, epoch {}", work_of(options_),
                            options_.device.empty() ? "runs as" : "is there, held by", report.pid,
                            report.epoch));
            return;
        case GuardReport::Kind::stopped:
            log(LogLevel::warn,
                fmt::format("{} was stopped by signal {}; treating it as stalled",
                            options_.device.empty() ? "the command" : "the holder of the address",
                            report.status));
            return obey(supervision_.on_stalled());
        case GuardReport::Kind::not_started:
            return on_end({CommandEnd::How::not_started, 0, report.error, false});
        case GuardReport::Kind::ended:
            return on_end({how(report.cause), report.status, 0, report.had_terminal != 0});
    }
}

void Supervisor::on_end(const CommandEnd& end) {
    progress_.stop();
    overdue_at_ = protocol::never;
    if (end.how != CommandEnd::How::not_started && command_ > 0)
        log(LogLevel::info,
            fmt::format("{} has ended: {}{}", work_of(options_), status_text(end.status),
                        end.how == CommandEnd::How::deadline
                            ? ", by its guard: the lease was about to end"
                            : ""));
    node_.task_runs(false, supervision_.unasked_end(end));
    command_ = 0;
    obey(supervision_.on_ended(end, now()));
}

// ---- A guard that dies.

void Supervisor::on_guard_lost() {
    log(LogLevel::error, "the guard of the command died; killing what is left of the command");
    clearing_up_ = true;
    shield_until_ = read_clock() + shield_end_max;
    clear_up();
}

/// Of a guard that has died, and so a child of this process now. 0: there is none, or it has not
/// done its work in time.
pid_t Supervisor::shield_at_work() const {
    const pid_t shield = parts_.page->shield();
    if (shield == 0) return 0;
    const protocol::Instant now = read_clock();
    const auto moment = last_moment();
    if (protocol::due(now, shield_until_) || (moment && !protocol::lease_valid(now, *moment)))
        return 0;
    siginfo_t ended{};
    const int waited =
        ::waitid(P_PID, static_cast<id_t>(shield), &ended, WEXITED | WNOHANG | WNOWAIT);
    return waited == 0 && ended.si_pid == 0 ? shield : 0;
}

/// The shield ends everything below it, and goes on with that if this process is killed as well: so
/// it is let do it. Who outlives the shield, too, has been adopted here.
void Supervisor::clear_up() {
    const LoopPulse::Excuse excuse(parts_.page->pulse());
    std::vector<pid_t> spared = own_children();
    const pid_t shield = shield_at_work();
    if (shield != 0) spared.push_back(shield);
    const bool alive = kill_descendants(::getpid(), spared, true) > 0 || shield != 0;
    clean_looks_ = !reap_orphans() || alive ? 0 : clean_looks_ + 1;
    if (clean_looks_ < 2 || !held_addresses_.take_off()) {
        clear_up_timer_.expires_after(look_for_descendants_every);
        clear_up_timer_.async_wait([this](const asio::error_code& error) {
            if (!error) clear_up();
        });
        return;
    }
    clearing_up_ = false;
    clean_looks_ = 0;
    spawn_guard();
    if (supervision_.command_runs()) on_end({CommandEnd::How::lost, SIGKILL, 0, false});
}

void Supervisor::spawn_guard() {
    // It is waited for until it runs.
    const LoopPulse::Excuse excuse(parts_.page->pulse());
    if (const auto spawned = guard_->spawn(); !spawned) {
        log(LogLevel::error, spawned.error() + "; trying again at the next election");
        return;
    }
    instruct_guard();
}

void Supervisor::instruct_guard() {
    for (const int lock : parts_.directory_locks) guard_->hold(lock);
    for (const auto& [session, duplicate] : kept_) guard_->keep(session, duplicate.get());
    if (parts_.undertaker == nullptr) return;
    if (const OwnedFd end = parts_.undertaker->new_guard()) guard_->notice(end.get());
}

/// Not at once: the caller that has asked for the start has not finished its own step.
void Supervisor::report_not_started(int error) {
    clear_up_timer_.expires_after(look_for_descendants_every);
    clear_up_timer_.async_wait([this, error](const asio::error_code& failed) {
        if (!failed && supervision_.command_runs())
            on_end({CommandEnd::How::not_started, 0, error, false});
    });
}

// ---- The last word.

void Supervisor::opened(protocol::SessionId session, int descriptor) {
    OwnedFd duplicate(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!duplicate) return;  // nothing is said on it, which costs the lease
    guard_->keep(session, duplicate.get());
    kept_[session] = std::move(duplicate);
}

void Supervisor::closed(protocol::SessionId session) {
    if (kept_.erase(session) != 0) guard_->forget(session);
}

// ---- Signals.

void Supervisor::wait_for_signal() {
    signals_.async_wait([this](const asio::error_code& error, int signal) {
        if (error) return;
        guard_->signal(signal);
        wait_for_signal();
    });
}

}  // namespace bullring
