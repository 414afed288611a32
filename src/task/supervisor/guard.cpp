#include "src/task/supervisor/guard.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/boottime_timer.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/realtime.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/task/address/holder.hpp"
#include "src/task/supervisor/descendants.hpp"
#include "src/task/supervisor/guard_records.hpp"
#include "src/task/supervisor/guard_run.hpp"
#include "src/task/supervisor/shield.hpp"
#include "src/task/supervisor/terminal.hpp"
#include "src/watch/last_event.hpp"
#include "src/watch/last_word.hpp"
#include "src/watch/node_watch.hpp"

namespace bullring {

namespace {

using protocol::Duration;
using protocol::Instant;
using Cause = GuardReport::Cause;

constexpr Duration kill_again_after = protocol::milliseconds(1);
/// So many looks in a row at which only the shield was left: it does not see that, and is killed.
constexpr int looks_alone_max = 10;

class CommandGuard {
public:
    CommandGuard(const GuardSettings& settings, SharedLeasePage page, int policy)
        : settings_(settings),
          page_(std::move(page)),
          policy_(policy),
          node_(settings.socket),
          node_watch_(page_->pulse(), settings.node_pause),
          self_(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))) {}

    int run() {
        if (!timer_ || !children_ || !self_) return 1;
        while (node_ || run_) {
            look();
            if (!node_ && !run_) break;
            arm();
            pollfd ready[] = {{children_.get(), POLLIN, 0},
                              {timer_.get(), POLLIN, 0},
                              {node_ ? node_.get() : -1, POLLIN, 0},
                              {reports_ ? reports_.get() : -1, POLLIN, 0}};
            ::poll(ready, 4, -1);
            drain(children_.get(), ready[0].revents);
            drain(timer_.get(), ready[1].revents);
            if (ready[3].revents != 0) read_shield();
            if (ready[2].revents != 0) read_orders();
        }
        return 0;
    }

private:
    using Phase = GuardRun::Phase;

    static void drain(int fd, short events) {
        char bytes[sizeof(signalfd_siginfo)];
        if (events != 0 && ::read(fd, bytes, sizeof bytes) < 0) return;
    }

    // ---- The node.

    void read_orders() {
        GuardOrder order;
        OwnedFd descriptor;
        int received = 0;
        while ((received = receive_record(node_.get(), &order, sizeof order, descriptor)) > 0)
            obey(order, std::move(descriptor));
        if (received < 0 && errno == EMFILE)
            fail("too many open files: cannot take over what the node hands over");
        if (received < 0) return;
        node_ = OwnedFd();
        if (!run_) return after_node();
        end(Cause::asked);
        complain("the node died; ending its command");
    }

    /// The node lives and nothing may be said in its name: the shield kills the command at once,
    /// and the node clears up as after any guard that has died.
    [[noreturn]] void fail(const char* text) const {
        complain(text);
        finish_log_lines();
        ::_exit(1);
    }

    void complain(const std::string& text) const { complain(LogLevel::error, text); }
    void complain(LogLevel level, const std::string& text) const {
        print_log_line(settings_.log_format, {std::stoull(settings_.id)}, level, text);
    }

    void obey(const GuardOrder& order, OwnedFd descriptor) {
        switch (order.kind) {
            case GuardOrder::Kind::hold: held_.push_back(std::move(descriptor)); return;
            case GuardOrder::Kind::start:
                last_word_.set({order.last_word.data(), order.last_word_bytes});
                return start({order.epoch}, std::move(descriptor));
            case GuardOrder::Kind::keep:
                last_word_.keep(order.session, std::move(descriptor));
                return;
            case GuardOrder::Kind::forget: last_word_.forget(order.session); return;
            case GuardOrder::Kind::notice: undertaker_ = std::move(descriptor); return;
            case GuardOrder::Kind::stop:
                if (run_ && run_->lease.epoch.value == order.epoch) end(Cause::asked);
                return;
            case GuardOrder::Kind::signal:
                if (run_) pass_on(order.signal);
                return;
        }
    }

    void pass_on(int signal) {
        if (run_->command == 0)
            run_->early_signals.push_back(signal);
        else if (!run_->status)
            ::kill(-run_->command, signal);
    }

    void tell(GuardReport report) {
        if (node_) send_record(node_.get(), &report, sizeof report);
    }

    // ---- A run of the command.

    void start(protocol::Epoch epoch, OwnedFd progress) {
        if (run_) return;  // the node knows better
        node_watch_.trust();
        const auto lease = page_->read();
        GuardRun run;
        run.lease = {epoch, protocol::long_ago};
        if (lease && lease->epoch == epoch) run.lease = *lease;
        int pipe[2] = {-1, -1};
        if (!time_is_left(run.lease.deadline) || ::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
            run.cause = Cause::deadline;
            return tell(run.report_of_end());
        }
        reports_ = OwnedFd(pipe[0]);
        const OwnedFd writing(pipe[1]);
        run.shield = ::fork();
        if (run.shield == 0) {
            page_->set_shield(::getpid());  // not by this process: it may be killed first
            ::close(node_.get());
            last_word_.forget_all();  // what the node closes is to be closed
            run_shield({settings_, *page_, run.lease, writing.get(), self_.get(), progress.get(),
                        policy_, announcer_});
        }
        if (run.shield < 0) {
            run.error = errno;
            reports_ = OwnedFd();
            return tell(run.report_of_end());
        }
        run_ = run;
    }

    void read_shield() {
        ShieldReport record;
        ssize_t count = 0;
        while (run_ && (count = ::read(reports_.get(), &record, sizeof record)) ==
                           static_cast<ssize_t>(sizeof record)) {
            switch (record.kind) {
                case ShieldReport::Kind::started: on_started(record.value); break;
                case ShieldReport::Kind::not_started: run_->error = record.value; break;
                case ShieldReport::Kind::stopped: on_stopped(record.value); break;
                case ShieldReport::Kind::ended:
                    run_->status = record.value;
                    if (run_->phase == Phase::running) end(Cause::by_itself);
                    break;
            }
        }
        // Its end would be reported for ever.
        if (count == 0 || !run_) reports_ = OwnedFd();
    }

    void on_started(pid_t command) {
        run_->command = command;
        GuardReport report;
        report.kind = GuardReport::Kind::started;
        report.pid = command;
        report.epoch = run_->lease.epoch.value;
        tell(report);
        for (const int signal : run_->early_signals) ::kill(-command, signal);
        if (run_->phase == Phase::ending) terminate();
    }

    void on_stopped(int signal) {
        if (signal == SIGTTIN || signal == SIGTTOU) {
            if (lend_terminal()) return;
        }
        GuardReport report;
        report.kind = GuardReport::Kind::stopped;
        report.status = signal;
        report.epoch = run_->lease.epoch.value;
        tell(report);
    }

    /// To a command that wants to read it, if it is the node's to give.
    bool lend_terminal() {
        if (!give_terminal(settings_.terminal_group, run_->command)) return false;
        run_->has_terminal = true;
        ::kill(-run_->command, SIGCONT);
        return true;
    }

    // ---- The end of a run.

    void end(Cause cause) {
        if (run_->phase != Phase::running) return;
        run_->phase = Phase::ending;
        run_->cause = cause;
        run_->kill_at = read_clock() + settings_.kill_after;
        const std::vector<std::string> left = terminate();
        if (cause == Cause::by_itself && !left.empty())
            complain(LogLevel::warn, text_of_those_left(left));
    }

    std::vector<std::string> terminate() {
        if (run_->command > 0 && !run_->status) {
            ::kill(-run_->command, SIGTERM);
            ::kill(-run_->command, SIGCONT);  // a stopped one could not obey
        }
        return signal_descendants(::getpid(), SIGTERM, run_->status ? 0 : run_->command,
                                  {run_->shield});
    }

    /// Acts on the time that has passed and on processes that have died.
    void look() {
        if (node_watch_.watches() && node_watch_.look())
            complain("the node stands still; it was killed, so that the others can elect a leader");
        if (!run_) return;
        if (const auto seen = page_->read(); seen && seen->epoch == run_->lease.epoch)
            run_->lease.deadline = seen->deadline;
        const Instant now = read_clock();
        if (run_->phase == Phase::running && !time_is_left(run_->lease.deadline))
            end(Cause::deadline);
        if (run_->phase == Phase::ending &&
            (protocol::due(now, run_->kill_at) || !protocol::lease_valid(now, kill_moment())))
            run_->phase = Phase::killing;
        if (reap_shield()) {
            read_shield();
            // The processes that are left have lost the one that would have ended them.
            run_->phase = Phase::killing;
        }
        if (run_->phase == Phase::killing) kill_all();
        // Nobody is left who could put the addresses on again.
        if (run_->shield == 0 && !reap_all_children() && held_addresses_.take_off()) finish();
    }

    bool time_is_left(Instant deadline) const {
        return protocol::lease_valid(read_clock(), deadline - settings_.margin);
    }
    Instant kill_moment() const { return run_->lease.deadline - settings_.kill_safety; }

    /// True once, when it is gone.
    bool reap_shield() {
        if (run_->shield == 0) return false;
        int status = 0;
        if (::waitpid(run_->shield, &status, WNOHANG) != run_->shield) return false;
        run_->shield = 0;
        page_->set_shield(0);
        return true;
    }

    void kill_all() {
        if (run_->command > 0 && !run_->status) ::kill(-run_->command, SIGKILL);
        held_addresses_.take_off();  // at once: a machine may be slow to end processes
        const std::size_t alive = kill_descendants(::getpid(), {run_->shield}, false);
        run_->looks_alone = alive == 0 ? run_->looks_alone + 1 : 0;
        if (run_->shield > 0 && run_->looks_alone > looks_alone_max) ::kill(run_->shield, SIGKILL);
    }

    void finish() {
        const GuardReport report = run_->report_of_end();
        if (run_->has_terminal) take_terminal_back(settings_.terminal_group);
        acted_ns_ = read_clock().boottime_ns;
        if (!node_) after_node();
        // `lead` may stand still, and its node waits for the end of this connection.
        for (const OwnedFd& held : held_) ::shutdown(held.get(), SHUT_RDWR);
        // The node should have seen as well that the lease was about to end.
        if (node_ && run_->cause == Cause::deadline) node_watch_.doubt();
        run_.reset();
        reports_ = OwnedFd();
        tell(report);
    }

    /// The node is dead, or about to end in order, and so is its command, if there was one.
    void after_node() {
        if ((run_ || node_watch_.in_doubt()) && !page_->pulse().others_act()) last_word_.say();
        tell_undertaker();
        run_as(policy_);  // nobody waits for what follows
        const bool hung = page_->pulse().hung.load() != 0 || node_watch_.in_doubt();
        if (page_->pulse().over.load() != 0) return;
        tell_last_event(page_->pulse(), settings_.events_file.c_str(), std::stoull(settings_.id),
                        hung, acted_ns_);
    }

    void tell_undertaker() {
        // Nobody else writes there; without its reader it costs the lease.
        if (undertaker_ && ::write(undertaker_.get(), "", 1) < 0) return;
    }

    void arm() {
        const Instant now = read_clock();
        if (!run_ && !node_watch_.watches()) return disarm_boottime_timer(timer_.get());
        std::int64_t wait_ns = kill_again_after.ns;
        if (!run_)
            wait_ns = node_watch_.wait().ns;
        else if (run_->phase == Phase::running)
            wait_ns = protocol::lease_wait(now, run_->lease.deadline - settings_.margin).ns;
        else if (run_->phase == Phase::ending)
            wait_ns = std::min(protocol::lease_wait(now, kill_moment()).ns,
                               protocol::elapsed(now, run_->kill_at).ns);
        arm_boottime_timer(timer_.get(), now.boottime_ns + std::max<std::int64_t>(wait_ns, 0));
    }

    const GuardSettings& settings_;
    HeldAddresses held_addresses_{settings_.device, settings_.command};
    Announcer announcer_{settings_.device};
    SharedLeasePage page_;
    int policy_;  // of scheduling, with which this program was started
    OwnedFd node_;
    NodeWatch node_watch_;
    std::int64_t acted_ns_ = 0;  // when the last command was there
    OwnedFd children_ = child_ends();
    OwnedFd timer_ = make_boottime_timer();
    OwnedFd self_;     // for the shield, which watches this process
    OwnedFd reports_;  // of the shield
    std::vector<OwnedFd> held_;
    LastWord last_word_;
    OwnedFd undertaker_;  // of the node, if it has one
    std::optional<GuardRun> run_;
};

}  // namespace

int run_guard(const GuardSettings& settings) {
    // Only the node, or its end, may end a guard; a signal to all processes means the command.
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    if (settings.ignores_hangup) ::signal(SIGHUP, SIG_IGN);  // and so will the command
    const int policy = run_first();
    ::prctl(PR_SET_NAME, "bullring-guard", 0, 0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ::fcntl(settings.socket, F_SETFD, FD_CLOEXEC);
    ::fcntl(settings.page, F_SETFD, FD_CLOEXEC);
    auto page = SharedLeasePage::map(settings.page);
    if (!page) return 1;
    const int status = CommandGuard(settings, std::move(*page), policy).run();
    finish_log_lines();
    return status;
}

}  // namespace bullring
