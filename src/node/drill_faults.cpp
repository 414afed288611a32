#include "src/node/drill_faults.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tl/expected.hpp>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

/// Why it is refused, or nothing.
std::string why_not(const Drill& what, const NodeOptions& options, const protocol::View& now) {
    if (!options.allow_drill) return "it was not started with --allow-drill";
    if (options.config.quorum == protocol::QuorumMode::none)
        return "with --quorum none there are no leases that a drill could judge";
    if (what.what == DrillRequest::permission) return "";
    if (now.role != protocol::Role::leader || now.epoch != what.epoch || now.lease_left.ns <= 0)
        return "it does not lead with epoch " + std::to_string(what.epoch.value);
    return "";
}

/// Continues this process after a while. It is forked before the node stops, and holds none of its
/// descriptors: if the node is killed meanwhile, its sockets must end with it.
class Continuer {
public:
    static tl::expected<Continuer, std::string> start(protocol::Duration after) {
        const OwnedFd node(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
        if (!node) return tl::unexpected(why());
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        // The node's handlers would write to the pipes of its loop.
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        const pid_t child = ::fork();
        if (child == 0) run(node.get(), after);
        const std::string problem = why();
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (child < 0) return tl::unexpected(problem);
        count_as_own({child});
        return Continuer(child);
    }

    /// It is of no more use.
    void end() const {
        ::kill(child_, SIGKILL);
        while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }

private:
    explicit Continuer(pid_t child) : child_(child) {}

    static std::string why() {
        return "it cannot start what would continue it: " + std::generic_category().message(errno);
    }

    /// A copy of one thread of many: system calls alone.
    [[noreturn]] static void run(int node, protocol::Duration after) {
        ::prctl(PR_SET_NAME, "bullring-drill");
        if (node > 0) ::syscall(SYS_close_range, 0U, static_cast<unsigned>(node - 1), 0U);
        ::syscall(SYS_close_range, static_cast<unsigned>(node + 1), ~0U, 0U);
        pollfd dead{node, POLLIN, 0};
        const timespec time{after.ns / 1'000'000'000, after.ns % 1'000'000'000};
        if (::ppoll(&dead, 1, &time, nullptr) == 0)
            ::syscall(SYS_pidfd_send_signal, node, SIGCONT, nullptr, 0);
        ::_exit(0);
    }

    pid_t child_;
};

ObserverSessions::DrillAnswer refused(DrillResult result, std::string why) {
    result.done = false;
    result.why = std::move(why);
    return {std::move(result), {}};
}

}  // namespace

ObserverSessions::DrillAnswer answer_drill(const Drill& what, const NodeOptions& options,
                                           const protocol::View& now, Transport& transport) {
    const protocol::Duration lease = options.config.timing.lease;
    const DrillResult result{true, "", lease, now.list.size()};
    if (std::string why = why_not(what, options, now); !why.empty())
        return refused(result, std::move(why));
    if (what.what != DrillRequest::permission)
        log(LogLevel::warn, "a drill: it lets a fault happen to this node");
    switch (what.what) {
        case DrillRequest::permission:
        case DrillRequest::resign: return {result, {}};
        case DrillRequest::crash: return {result, [] { ::kill(::getpid(), SIGKILL); }};
        case DrillRequest::hang: {
            const auto continuer = Continuer::start(drill_absence(lease));
            if (!continuer) return refused(result, continuer.error());
            return {result, [continuer = *continuer] {
                        ::kill(::getpid(), SIGSTOP);
                        continuer.end();
                    }};
        }
        case DrillRequest::cut:
            return {result, [&transport, lease] { transport.cut_off(drill_absence(lease)); }};
    }
    return refused(result, "it does not know this fault");
}

}  // namespace bullring
