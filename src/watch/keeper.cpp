#include "src/watch/keeper.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/os/bare_calls.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/sanitizers.hpp"
#include "src/base/text/rfc3339.hpp"
#include "src/watch/last_event.hpp"
#include "src/watch/standstill.hpp"
#include "src/watch/thread_area.hpp"
#include "src/watch/thread_view.hpp"

namespace bullring {

namespace {

constexpr std::size_t stack_bytes = 32 * 1024;

}  // namespace

/// The code of the keeper. It has the memory of the node, and may have been made while a thread was
/// inside code that keeps state there, the C library included: so it makes system calls alone.
class Keeper::Work {
public:
    Work(LoopPulse& pulse, const KeeperSettings& settings, const std::atomic<bool>& stopping,
         int alarm, int wake, int node)
        : pulse_(pulse),
          settings_(settings),
          stopping_(stopping),
          alarm_(alarm),
          wake_(wake),
          node_(node) {
        if (settings.hang_after.ns > 0) thread_.emplace(::getpid(), ::gettid());
    }

    /// Process id of what runs it, or below 0.
    int launch() {
        return ::clone(&Work::enter, stack_.get() + stack_bytes, CLONE_VM | CLONE_SETTLS, this,
                       nullptr, area_.pointer());
    }

private:
    static int enter(void* work) {
        static_cast<Work*>(work)->run();
        ::syscall(SYS_exit_group, 0);
        return 0;
    }

    void run() {
        ::syscall(SYS_prctl, PR_SET_NAME, "bullring-keeper", 0, 0, 0);
        // Late by less than the thousandth part of what it measures.
        ::syscall(SYS_prctl, PR_SET_TIMERSLACK, 1000, 0, 0, 0);
        close_all_else();
        End end = End::no_lead;
        while (end == End::no_lead) end = watch_for_lead();
        if (end == End::stopped) return;
        if (end == End::hung) {
            write_line_if_taken(STDERR_FILENO, settings_.before_time,
                                Rfc3339(kernel_now_ns(CLOCK_REALTIME)).text(),
                                settings_.after_time);
            while (!wait(-1)) {
            }
        }
        tell_last_event(pulse_, settings_.events_file.c_str(), settings_.node, end == End::hung);
        let_others_elect();
    }

    /// The memory is taken down at the end of this. That can wait, and a processor that does it is
    /// one less for the election.
    static void let_others_elect() {
        KernelTime time{0, 5'000'000};
        ::syscall(SYS_ppoll, nullptr, 0, &time, nullptr, 0);
    }

    enum class End { no_lead, stopped, died, hung };

    /// To the end of a leadership, or of the node.
    End watch_for_lead() {
        if (wait(-1)) return End::died;
        if (stopping_.load()) return End::stopped;
        return thread_ ? watch() : End::no_lead;
    }

    void close_all_else() const {
        const bool tells = settings_.events_file == "-";
        std::array<int, 7> kept{wake_, node_, tells ? STDOUT_FILENO : -1, -1, -1, -1, -1};
        if (thread_) {
            const std::array<int, 4> more{alarm_, STDERR_FILENO, thread_->stat(),
                                          thread_->schedstat()};
            std::copy(more.begin(), more.end(), kept.begin() + 3);
        }
        close_all_but(kept);
    }

    /// For so long (-1: for ever), or until the node begins to lead. True: it has ended.
    bool wait(long ns) const {
        // The first is readable when the last thread of the node is gone, its descriptors closed.
        std::array<pollfd, 2> ready{{{node_, POLLIN, 0}, {wake_, POLLIN, 0}}};
        KernelTime time{ns / 1'000'000'000, ns % 1'000'000'000};
        ::syscall(SYS_ppoll, ready.data(), ready.size(), ns < 0 ? nullptr : &time, nullptr, 0);
        std::uint64_t count = 0;
        if (ready[1].revents != 0) ::syscall(SYS_read, wake_, &count, sizeof count);
        return ready[0].revents != 0;
    }

    End watch() {
        Standstill standstill(settings_.hang_after);
        while (leads()) {
            if (wait(static_cast<long>(standstill.wait().ns))) return End::died;
            if (stopping_.load()) return End::stopped;
            const std::uint64_t turns = pulse_.turns.load();
            const protocol::Duration now{kernel_now_ns(CLOCK_BOOTTIME)};
            if (standstill.moves(now, turns, {pulse_.last_step_ns.load()})) continue;
            auto seen = thread_->look();
            if (!seen) return End::no_lead;
            if (pulse_.excused.load() != 0) seen->state = Standstill::excused;
            const auto verdict = standstill.look(now, *seen);
            if (verdict == Standstill::Verdict::ask) ask();
            // Unless it has moved at the last moment.
            if (verdict != Standstill::Verdict::stands || pulse_.turns.load() != turns || !leads())
                continue;
            pulse_.hung.store(1);
            ::syscall(SYS_pidfd_send_signal, node_, SIGKILL, nullptr, 0);
            return End::hung;
        }
        return End::no_lead;
    }

    /// One whose lease is over has lost it already.
    bool leads() const {
        return pulse_.leads.load() != 0 &&
               kernel_now_ns(CLOCK_BOOTTIME) < pulse_.lease_end_ns.load();
    }

    void ask() const {
        const std::uint64_t one = 1;
        ::syscall(SYS_write, alarm_, &one, sizeof one);
    }

    std::unique_ptr<std::byte[]> stack_ = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    ThreadArea area_;
    LoopPulse& pulse_;
    const KeeperSettings& settings_;
    const std::atomic<bool>& stopping_;
    std::optional<ThreadView> thread_;  // none: nobody is killed
    int alarm_;
    int wake_;
    int node_;
};

Keeper::Keeper(LoopPulse& pulse, KeeperSettings settings)
    : pulse_(pulse),
      settings_(std::move(settings)),
      alarm_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Keeper::~Keeper() { delete work_; }

bool Keeper::start() {
    if constexpr (thread_sanitizer) return true;  // its users don't look at latencies
    // Made before the keeper: it must not wait for the wrong process when this one dies meanwhile.
    const OwnedFd node(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    if (!node || !alarm_ || !wake_) return false;
    auto work =
        std::make_unique<Work>(pulse_, settings_, stopping_, alarm_.get(), wake_.get(), node.get());
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    // The keeper inherits it: nothing but SIGKILL ends it.
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const int process = work->launch();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (process <= 0) return false;
    process_ = process;
    work_ = work.release();  // the keeper's own from now on
    count_as_own({process_});
    return true;
}

void Keeper::stop() {
    if (process_ == 0) return;
    stopping_ = true;
    watch();
    siginfo_t end{};
    while (::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | __WALL) != 0) {
        if (errno != EINTR) break;
    }
    process_ = 0;
}

void Keeper::watch() const {
    const std::uint64_t one = 1;
    if (::write(wake_.get(), &one, sizeof one) < 0) return;  // it has not read the one before
}

}  // namespace bullring
