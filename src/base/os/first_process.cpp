#include "src/base/os/first_process.hpp"

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <optional>
#include <system_error>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/bare_calls.hpp"
#include "src/base/os/quiet_thread.hpp"

namespace bullring {

namespace {

/// The time for the processes that the child leaves behind: a guard ends its command, an undertaker
/// reports the end.
constexpr std::int64_t leave_behind_ns = 10'000'000'000;
/// And after a request to end: an undertaker reports the end. Such a request is lost where it
/// reaches a child that is dying already, whose threads end one after the other.
constexpr std::int64_t leave_behind_asked_ns = 1'000'000'000;
constexpr int signalled = 128;  // and the signal's number, as shells have it

/// Whether the signal asks for an end. Then the processes left behind get less time.
bool asks_to_end(int signal) {
    return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
}

class FirstProcess {
public:
    explicit FirstProcess(pid_t child) : child_(child) { ::sigfillset(&all_); }

    int run() {
        while (!status_ || left_behind()) {
            siginfo_t info{};
            if (wait(info) < 0) continue;  // it is time to look
            if (info.si_signo == SIGCHLD) continue;
            if (status_ && asks_to_end(info.si_signo)) break;
            if (status_) continue;
            // To a node that lives SIGHUP says something else.
            asked_ = asked_ || (asks_to_end(info.si_signo) && info.si_signo != SIGHUP);
            // A signal of the terminal reaches all of its processes by itself.
            if (info.si_code != SI_KERNEL) ::kill(child_, info.si_signo);
        }
        return WIFSIGNALED(*status_) ? signalled + WTERMSIG(*status_) : WEXITSTATUS(*status_);
    }

private:
    int wait(siginfo_t& info) {
        const timespec soon{0, 100'000'000};
        const int got = status_ ? ::sigtimedwait(&all_, &info, &soon) : ::sigwaitinfo(&all_, &info);
        // Before the signal is judged: of several that are pending, SIGTERM is handed out before
        // the SIGCHLD of an end that it follows, and must not be passed on to the dead.
        reap();
        return got;
    }

    void reap() {
        int status = 0;
        pid_t ended = 0;
        while ((ended = ::waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
            if (ended != child_) continue;
            status_ = status;
            until_ns_ =
                kernel_now_ns(CLOCK_BOOTTIME) + (asked_ ? leave_behind_asked_ns : leave_behind_ns);
        }
        alone_ = ended < 0 && errno == ECHILD;
    }

    bool left_behind() const { return !alone_ && kernel_now_ns(CLOCK_BOOTTIME) < until_ns_; }

    pid_t child_;
    sigset_t all_{};
    std::optional<int> status_;  // of the child, when it has ended
    bool asked_ = false;         // before that, to end
    std::int64_t until_ns_ = 0;
    bool alone_ = false;
};

}  // namespace

void leave_first_process() {
    if (::getpid() != 1) return;
    std::optional<SignalsBlocked> blocked(std::in_place);  // none is to be missed
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
    if (child == 0) return;  // the signals are as they were again
    ::prctl(PR_SET_NAME, "bullring-init", 0, 0, 0);
    ::_exit(FirstProcess(child).run());
}

}  // namespace bullring
