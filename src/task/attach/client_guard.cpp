#include "src/task/attach/client_guard.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

#include "src/settings/run_options.hpp"

namespace bullring {

ClientGuard::ClientGuard(asio::io_context& io, Parts parts, LoopPulse& pulse,
                         const protocol::Timing& timing)
    : io_(io),
      parts_(parts),
      pulse_(pulse),
      // As long as a shield has to kill a command: it kills one process, and has its descriptor.
      early_(kill_safety(timing.lease) / 2) {}

tl::expected<void, std::string> ClientGuard::prepare(int process) {
    if (process < 0)
        return tl::unexpected(std::string("this process can't be watched, and so not be killed"));
    if (::syscall(SYS_pidfd_send_signal, process, 0, nullptr, 0) != 0)
        return tl::unexpected("the node can't kill this process, which has to have its user: " +
                              std::generic_category().message(errno));
    if (parts_.undertaker.runs()) return {};
    constexpr const char* none = "the process that would kill it does not run; try again";
    if (parts_.notices) return tl::unexpected(std::string(none));  // it is about to be started
    const bool started = [this] {
        const LoopPulse::Excuse excuse(pulse_);
        return parts_.undertaker.start();
    }();
    if (!started) return tl::unexpected(std::string(none));
    watch_.emplace(io_, parts_.undertaker, pulse_);
    return {};
}

void ClientGuard::begin(int process, protocol::Epoch epoch, std::int64_t until_ns) {
    works_ = true;
    prolong(until_ns);  // before the undertaker looks for it
    std::vector<std::byte> word;
    if (!parts_.notices)
        // One word for all sessions, whatever version is spoken on each.
        encode(parts_.self, protocol::Message(protocol::Resign{epoch, protocol::nobody}),
               protocol::version_lowest, word);
    parts_.undertaker.end_with_node(process, word);
    for (const auto& [session, descriptor] : sessions_) parts_.undertaker.keep(session, descriptor);
}

void ClientGuard::prolong(std::int64_t until_ns) {
    if (works_) pulse_.client_until_ns.store(killed_at(until_ns));
}

void ClientGuard::end() {
    if (!std::exchange(works_, false)) return;
    pulse_.client_until_ns.store(0);
    parts_.undertaker.end_nobody_else();
}

SessionKeeper* ClientGuard::before(SessionKeeper* next) {
    if (parts_.notices) return next;
    next_ = next;
    return this;
}

void ClientGuard::opened(protocol::SessionId session, int descriptor) {
    if (works_) parts_.undertaker.keep(session, descriptor);
    sessions_[session] = descriptor;
    if (next_ != nullptr) next_->opened(session, descriptor);
}

void ClientGuard::closed(protocol::SessionId session) {
    if (works_) parts_.undertaker.forget(session);
    sessions_.erase(session);
    if (next_ != nullptr) next_->closed(session);
}

}  // namespace bullring
