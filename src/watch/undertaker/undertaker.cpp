#include "src/watch/undertaker/undertaker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/values/assert.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/base/os/sanitizers.hpp"
#include "src/watch/undertaker/undertaker_process.hpp"

namespace bullring {

namespace {

constexpr std::size_t undertaker_stack_bytes = 128 * 1024;

int enter(void* task) {
    run_undertaker(*static_cast<const UndertakerTask*>(task));
    ::_exit(0);
}

UndertakerOrder::Word word_of(std::span<const std::byte> frame) {
    UndertakerOrder::Word word;
    BULLRING_ASSERT(frame.size() <= word.data.size());
    word.bytes = static_cast<std::uint32_t>(frame.size());
    std::copy(frame.begin(), frame.end(), word.data.begin());
    return word;
}

}  // namespace

bool Undertaker::start() {
    if constexpr (thread_sanitizer) return true;  // its users don't look at latencies
    stop();
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
        return false;
    orders_ = OwnedFd(ends[0]);
    const OwnedFd theirs(ends[1]);
    // N1.1: inherited, so that nobody looks the node up by its number.
    const OwnedFd node(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    if (!node) {
        orders_ = OwnedFd();
        return false;
    }
    UndertakerTask task{theirs.get(), node.get(), settings_.guarded, settings_.pulse,
                        settings_.patience};
    const auto stack = std::make_unique_for_overwrite<std::byte[]>(undertaker_stack_bytes);
    {
        const SignalsBlocked blocked;  // it inherits that: nothing but SIGKILL ends it
        // A copy of the memory, as fork() makes it, but without what its user has set for forks,
        // and without a signal at its end.
        process_ = ::clone(&enter, stack.get() + undertaker_stack_bytes, 0, &task);
    }
    if (process_ <= 0) {
        process_ = 0;
        orders_ = OwnedFd();
        return false;
    }
    count_as_own({process_});
    // Before that it is silent.
    if (client_) order(client_order_, client_.get());
    if (words_.first.bytes != 0) order(words_);
    if (guard_) {
        UndertakerOrder guard;
        guard.kind = UndertakerOrder::Kind::guard;
        order(guard, guard_.get());
    }
    for (const OwnedFd& one : held_) order_to_hold(one.get());
    for (const auto& [peer, place] : places_) order(place);
    for (const auto& [session, kept] : sessions_) order_to_keep(session, kept.get());
    return true;
}

void Undertaker::stop() {
    orders_ = OwnedFd();
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    forget_own(process_);
    siginfo_t end{};
    while (::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | __WALL) != 0) {
        if (errno != EINTR) break;
    }
    process_ = 0;
}

void Undertaker::finish(std::chrono::milliseconds longest) {
    if (process_ == 0) return;
    UndertakerOrder over;
    over.kind = UndertakerOrder::Kind::over;
    order(over);
    const OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
    pollfd ended{process.get(), POLLIN, 0};
    if (process) ::poll(&ended, 1, static_cast<int>(longest.count()));
    stop();
}

void Undertaker::set_words(std::span<const std::byte> first, std::span<const std::byte> last) {
    words_.kind = UndertakerOrder::Kind::words;
    words_.first = word_of(first);
    words_.last = word_of(last);
    order(words_);
}

void Undertaker::mourn_at(protocol::NodeId peer, int socket) {
    UndertakerOrder place;
    place.kind = UndertakerOrder::Kind::mourn;
    place.peer = peer.value;
    place.address_bytes = sizeof place.address;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&place.address), &place.address_bytes) !=
        0)
        return;
    places_[peer] = place;
    order(place);
}

OwnedFd Undertaker::new_guard() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return OwnedFd();
    guard_ = OwnedFd(ends[0]);
    UndertakerOrder guard;
    guard.kind = UndertakerOrder::Kind::guard;
    order(guard, guard_.get());
    return OwnedFd(ends[1]);
}

void Undertaker::hold(int descriptor) {
    OwnedFd copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!copy || held_.size() == UndertakerOrder::held_max) return;  // the end is reported later
    order_to_hold(copy.get());
    held_.push_back(std::move(copy));
}

void Undertaker::order_to_hold(int descriptor) {
    UndertakerOrder hold;
    hold.kind = UndertakerOrder::Kind::hold;
    order(hold, descriptor);
}

void Undertaker::end_with_node(int process, std::span<const std::byte> word) {
    client_ = OwnedFd(::fcntl(process, F_DUPFD_CLOEXEC, 0));
    client_order_ = {};
    client_order_.kind = UndertakerOrder::Kind::client;
    client_order_.last = word_of(word);
    order(client_order_, process);
}

void Undertaker::end_nobody_else() {
    client_ = OwnedFd();
    sessions_.clear();
    client_order_ = {};
    client_order_.kind = UndertakerOrder::Kind::client;
    order(client_order_);
}

void Undertaker::keep(protocol::SessionId session, int descriptor) {
    OwnedFd copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!copy) return;  // nothing is said on it, which costs the lease
    order_to_keep(session, copy.get());
    sessions_[session] = std::move(copy);
}

void Undertaker::order_to_keep(protocol::SessionId session, int descriptor) {
    UndertakerOrder keep;
    keep.kind = UndertakerOrder::Kind::keep;
    keep.session = session.value;
    order(keep, descriptor);
}

void Undertaker::forget(protocol::SessionId session) {
    if (sessions_.erase(session) == 0) return;
    UndertakerOrder forget;
    forget.kind = UndertakerOrder::Kind::forget;
    forget.session = session.value;
    order(forget);
}

/// One that does not read is no undertaker: it is killed, and the next one learns what this one did
/// not.
void Undertaker::order(const UndertakerOrder& order, int descriptor) {
    if (process_ == 0) return;
    if (!send_record(orders_.get(), &order, sizeof order, descriptor) && errno != EPIPE &&
        errno != ECONNRESET)
        ::kill(process_, SIGKILL);
}

}  // namespace bullring
