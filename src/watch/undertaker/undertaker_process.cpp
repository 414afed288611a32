#include "src/watch/undertaker/undertaker_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "protocol/values/membership.hpp"
#include "src/base/os/bare_calls.hpp"
#include "src/base/os/boottime_timer.hpp"
#include "src/base/os/realtime.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/watch/last_word.hpp"
#include "src/watch/undertaker/mourner.hpp"
#include "src/watch/undertaker/undertaker_orders.hpp"

namespace bullring {

namespace {

/// A service manager that ends what a dead node has left does not wait for this.
void let_signals_end_it() {
    ::signal(SIGTERM, SIG_DFL);
    sigset_t term;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_UNBLOCK, &term, nullptr);
}

class Undertaking {
public:
    Undertaking(const UndertakerTask& task, int policy)
        : task_(task), policy_(policy), orders_(task.orders), node_(task.node) {}

    void run() {
        while (!over()) {
            wait();
            // Before the order that names another one.
            if (ready_[client_at].revents != 0) on_client_end();
            if (ready_[orders_at].revents != 0) read_orders();
            if (!ended_ && (ready_[node_at].revents & POLLIN) != 0) on_end();
            if (ended_ && ready_[guard_at].revents != 0) read_guard();
            if (ready_[timer_at].revents != 0) watch_lease();
            const std::int64_t time = now();
            for (std::size_t i = 0; i < count_; ++i)
                mourners_[i].look(ready_[mourners_at + i].revents, time, words_);
            // The others go first then, who may be on this host.
            if (speaks_ && all(&Mourner::has_spoken)) run_as(policy_);
        }
    }

private:
    // Places in `ready_`.
    static constexpr std::size_t orders_at = 0;
    static constexpr std::size_t node_at = 1;
    static constexpr std::size_t guard_at = 2;
    static constexpr std::size_t client_at = 3;
    static constexpr std::size_t timer_at = 4;
    static constexpr std::size_t mourners_at = 5;

    static std::int64_t now() { return kernel_now_ns(CLOCK_BOOTTIME); }

    bool over() const {
        const std::int64_t time = now();
        if (time >= until_) return true;
        if (client_) return false;
        if (silent_ || time >= dismissed_at_) return true;
        return speaks_ && all(&Mourner::done);
    }

    bool all(bool (Mourner::*is)() const) const {
        return std::all_of(mourners_.begin(), mourners_.begin() + count_,
                           [is](const Mourner& one) { return (one.*is)(); });
    }

    void wait() {
        ready_[orders_at] = {orders_.get(), POLLIN, 0};
        ready_[node_at] = {ended_ ? -1 : node_.get(), POLLIN, 0};
        ready_[guard_at] = {ended_ ? guard_.get() : -1, POLLIN, 0};
        ready_[client_at] = {client_.get(), POLLIN, 0};
        ready_[timer_at] = {timer_.get(), POLLIN, 0};
        std::int64_t look_at = std::min(until_, dismissed_at_);
        for (std::size_t i = 0; i < count_; ++i) {
            ready_[mourners_at + i] = mourners_[i].waits_for();
            look_at = std::min(look_at, mourners_[i].look_at());
        }
        timespec time{};
        const std::int64_t left = std::max<std::int64_t>(look_at - now(), 0);
        time.tv_sec = static_cast<time_t>(left / 1'000'000'000);
        time.tv_nsec = static_cast<long>(left % 1'000'000'000);
        if (::ppoll(ready_.data(), mourners_at + count_, look_at == INT64_MAX ? nullptr : &time,
                    nullptr) >= 0)
            return;
        for (pollfd& one : ready_) one.revents = 0;
    }

    void read_orders() {
        UndertakerOrder order;
        OwnedFd descriptor;
        int received = 0;
        while ((received = receive_record(orders_.get(), &order, sizeof order, descriptor)) > 0)
            obey(order, std::move(descriptor));
        if (received < 0) return;
        // The node has ended, or has no use for this process any more. A process closes its files
        // before it counts as ended.
        orders_ = OwnedFd();
        if (ended_) return;
        dismissed_at_ = now() + dismissed_after_ns;
        until_ = now() + task_.patience.ns;
        if (client_) kill_client();  // nobody can renew its lease
    }

    void obey(const UndertakerOrder& order, OwnedFd descriptor) {
        switch (order.kind) {
            case UndertakerOrder::Kind::words: words_ = order; return;
            case UndertakerOrder::Kind::guard: guard_ = std::move(descriptor); return;
            case UndertakerOrder::Kind::hold: {
                const auto free = std::find_if(held_.begin(), held_.end(),
                                               [](const OwnedFd& one) { return !one; });
                if (free != held_.end()) *free = std::move(descriptor);
                return;
            }
            case UndertakerOrder::Kind::client: return take_client(order, std::move(descriptor));
            case UndertakerOrder::Kind::keep:
                return last_word_.keep(order.session, std::move(descriptor));
            case UndertakerOrder::Kind::forget: return last_word_.forget(order.session);
            case UndertakerOrder::Kind::mourn: mourner_for(order.peer).begin(order, now()); return;
            case UndertakerOrder::Kind::over: return on_end();  // nothing comes after it
        }
    }

    /// The highest first: it is likely to follow the node, and hears of it first.
    Mourner& mourner_for(std::uint64_t peer) {
        std::size_t at = 0;
        while (at < count_ && mourners_[at].peer() > peer) ++at;
        if (at < count_ && mourners_[at].peer() == peer) return mourners_[at];
        if (count_ == mourners_.size()) return mourners_.back();
        for (std::size_t i = count_++; i > at; --i) mourners_[i] = std::move(mourners_[i - 1]);
        mourners_[at] = Mourner();
        return mourners_[at];
    }

    void on_end() {
        if (orders_) read_last_orders();
        ended_ = true;
        dismissed_at_ = INT64_MAX;
        until_ = now() + task_.patience.ns;  // N2.3
        // N2.2
        if (task_.pulse != nullptr && task_.pulse->others_work.load() != 0) silent_ = true;
        waits_for_guard_ = task_.guarded;
        if (waits_for_guard_ && !guard_) silent_ = true;
        if (client_)
            kill_client();
        else if (client_ended_ns_ != 0)
            show_client_end();
        else if (task_.pulse != nullptr && task_.pulse->client_until_ns.load() != 0)
            silent_ = true;  // the node has died before it could say which process it is
        speak_if_nothing_acts();
    }

    // ---- N2.4: a process that is to end with the node.

    void take_client(const UndertakerOrder& order, OwnedFd process) {
        client_ = std::move(process);
        client_ended_ns_ = 0;
        last_word_.set({order.last.data.data(), order.last.bytes});
        if (!client_) last_word_.forget_all();
        watch_lease();
    }

    /// The node may stand still: its lease ends all the same.
    void watch_lease() {
        const std::int64_t until = client_ ? task_.pulse->client_until_ns.load() : 0;
        if (until != 0 && now() < until) {
            arm_boottime_timer(timer_.get(), until);
            return;
        }
        disarm_boottime_timer(timer_.get());
        if (until != 0) kill_client();
    }

    void kill_client() const {
        ::syscall(SYS_pidfd_send_signal, client_.get(), SIGKILL, nullptr, 0);
    }

    void on_client_end() {
        client_ = OwnedFd();
        client_ended_ns_ = now();
        if (!ended_) return;  // the node sees its end, too, or ends before it does
        show_client_end();
        speak_if_nothing_acts();
    }

    void show_client_end() const {
        task_.pulse->client_ended_ns.store(client_ended_ns_);
        task_.pulse->client_until_ns.store(0);
    }

    void read_last_orders() {
        UndertakerOrder order;
        OwnedFd descriptor;
        while (receive_record(orders_.get(), &order, sizeof order, descriptor) > 0)
            obey(order, std::move(descriptor));
        orders_ = OwnedFd();
    }

    /// N2.1: the end without a word: the guard is dead, and nobody knows of the command.
    void read_guard() {
        char word = 0;
        const ssize_t count = ::read(guard_.get(), &word, 1);
        if (count < 0) return;
        guard_ = OwnedFd();
        waits_for_guard_ = false;
        if (count == 0) silent_ = true;
        speak_if_nothing_acts();
    }

    void speak_if_nothing_acts() {
        if (silent_ || waits_for_guard_ || client_) return;
        speaks_ = true;
        last_word_.say();
        const std::int64_t time = now();
        for (std::size_t i = 0; i < count_; ++i) {
            mourners_[i].node_ended(time);
            mourners_[i].look(0, time, words_);
        }
        // Only now: it is what the others wait for.
        let_signals_end_it();
    }

    static constexpr std::int64_t dismissed_after_ns = 1'000'000'000;

    UndertakerTask task_;
    int policy_;  // for when all is said
    OwnedFd orders_;
    OwnedFd node_;
    OwnedFd guard_;
    std::array<OwnedFd, UndertakerOrder::held_max> held_;
    OwnedFd client_;                         // ends with the node
    OwnedFd timer_ = make_boottime_timer();  // and with its lease
    std::int64_t client_ended_ns_ = 0;       // 0: it lives, or there is none
    LastWord last_word_;
    UndertakerOrder words_;
    std::array<Mourner, protocol::members_max> mourners_;
    std::size_t count_ = 0;
    std::array<pollfd, mourners_at + protocol::members_max> ready_{};
    bool ended_ = false;  // the node
    bool waits_for_guard_ = false;
    bool speaks_ = false;                    // nothing acts for it any more
    bool silent_ = false;                    // nothing is to be said
    std::int64_t dismissed_at_ = INT64_MAX;  // without orders, and the node lives
    std::int64_t until_ = INT64_MAX;
};

}  // namespace

void run_undertaker(const UndertakerTask& task) {
    // Not the node's name: whoever kills all processes of exactly that name means the nodes. 15
    // bytes.
    ::prctl(PR_SET_NAME, "bullring-notice", 0, 0, 0);
    ::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
    // It may be a copy of a process that has its keys in memory.
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    // A signal to the node's group does not reach it in a group of its own; and if it is stopped,
    // the kernel continues it when the node ends, since its group has no parent then.
    ::setpgid(0, 0);
    // The end of nothing of the node's is to wait for this process.
    std::array<int, 2> kept{task.orders, task.node};
    if (!close_all_but(kept)) ::_exit(1);
    Undertaking(task, run_first()).run();
    // To take its copy of the node's memory apart takes longer than all that it has done.
    run_last();
}

}  // namespace bullring
