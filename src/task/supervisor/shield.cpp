#include "src/task/supervisor/shield.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/boottime_timer.hpp"
#include "src/base/os/child_variables.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/realtime.hpp"
#include "src/task/address/holder.hpp"
#include "src/task/supervisor/descendants.hpp"
#include "src/task/supervisor/find_program.hpp"

namespace bullring {

namespace {

constexpr int progress_descriptor = 3;

std::vector<std::string> environment_of(const Shield& shield) {
    std::vector<std::string> own{
        environment_entry(variables::epoch, std::to_string(shield.lease.epoch.value)),
        environment_entry(variables::node_id, shield.settings.id),
        environment_entry(variables::leader, "1"),
        environment_entry(variables::cluster_name, shield.settings.cluster),
    };
    if (!shield.settings.progress_file.empty())
        own.push_back(environment_entry(variables::progress_file, shield.settings.progress_file));
    if (shield.progress >= 0)
        own.push_back(
            environment_entry(variables::progress_fd, std::to_string(progress_descriptor)));
    return environment_with(std::move(own));
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    all.reserve(words.size() + 1);
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

/// posix_spawn() has the C library's own two signals ignored in what it starts, and exec keeps
/// that; the library itself lets nobody change it.
void stop_ignoring_internal_signals() {
    struct {
        void* handler = nullptr;  // SIG_DFL
        unsigned long flags = 0;
        void* restorer = nullptr;
        std::uint64_t mask = 0;
    } standard;  // as the kernel has it
    for (const int signal : {32, 33})
        ::syscall(SYS_rt_sigaction, signal, &standard, nullptr, sizeof standard.mask);
}

/// First of all in a new child.
void die_with(pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it has died before it could be seen to
}

/// All that is open above `kept`, whoever has opened it, but not the way to report an error.
void close_others(int kept, int errors) {
    if (errors <= kept) ::_exit(1);  // never: it was opened last
    if (errors > kept + 1)
        ::syscall(SYS_close_range, static_cast<unsigned>(kept + 1),
                  static_cast<unsigned>(errors - 1), 0U);
    ::syscall(SYS_close_range, static_cast<unsigned>(errors + 1), ~0U, 0U);
}

/// Tells the errno when it can't be.
[[noreturn]] void become_command(const Shield& shield, std::vector<std::string> environment,
                                 int errors) {
    run_as(shield.policy);
    if (shield.progress >= 0) {
        // A duplicate has no close-on-exec; the one that is there already loses it.
        if (shield.progress == progress_descriptor)
            ::fcntl(progress_descriptor, F_SETFD, 0);
        else
            ::dup2(shield.progress, progress_descriptor);
    }
    close_others(shield.progress >= 0 ? progress_descriptor : STDERR_FILENO, errors);
    set_descriptor_limit(0, shield.settings.descriptor_limit);
    stop_ignoring_internal_signals();
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    Command words = shield.settings.command;
    // Not execvpe(), which has a shell try what the kernel does not know.
    int error = 0;
    if (const auto program = find_program(words.front())) {
        ::execve(program->c_str(), pointers(words).data(), pointers(environment).data());
        error = errno;
    } else {
        error = program.error().error;
    }
    if (::write(errors, &error, sizeof error) < 0) ::_exit(1);
    ::_exit(127);
}

class Parent {
public:
    explicit Parent(const Shield& shield) : shield_(shield) {}

    [[noreturn]] void run() {
        start();
        while (true) {
            reap();
            if (killing_ || must_kill()) kill_all();
            arm();
            pollfd ready[] = {{children_.get(), POLLIN, 0},
                              {timer_.get(), POLLIN, 0},
                              {guard_gone_ ? -1 : shield_.guard, POLLIN, 0}};
            ::poll(ready, 3, -1);
            signalfd_siginfo ignored{};
            std::uint64_t count = 0;
            if (ready[0].revents != 0 && ::read(children_.get(), &ignored, sizeof ignored) < 0) {
            }
            if (ready[1].revents != 0 && ::read(timer_.get(), &count, sizeof count) < 0) {
            }
            if (ready[2].revents != 0) guard_gone_ = true;
        }
    }

private:
    void report(ShieldReport::Kind kind, int value) {
        const ShieldReport record{kind, value};
        // A pipe that nobody reads any more has no news for anybody.
        if (::write(shield_.reports, &record, sizeof record) < 0) return;
    }

    void start() {
        int errors[2] = {-1, -1};
        std::vector<std::string> environment = environment_of(shield_);
        const pid_t self = ::getpid();
        const bool piped = ::pipe2(errors, O_CLOEXEC) == 0;
        command_ = piped ? ::fork() : -1;
        if (command_ == 0) {
            die_with(self);
            if (!held_.device().empty())
                hold_addresses({held_,
                                {std::stoull(shield_.settings.id)},
                                shield_.settings.log_format,
                                shield_.page,
                                shield_.announcer,
                                shield_.lease.epoch,
                                errors[1]});
            become_command(shield_, std::move(environment), errors[1]);
        }
        int error = errno;
        if (command_ < 0) {
            report(ShieldReport::Kind::not_started, error);
            ::_exit(1);
        }
        ::setpgid(command_, command_);
        ::close(errors[1]);
        // Ends when the command has begun: the pipe is closed by exec, or when the addresses are
        // there.
        const ssize_t count = ::read(errors[0], &error, sizeof error);
        ::close(errors[0]);
        if (count == sizeof error) {
            report(ShieldReport::Kind::not_started, error);
            ::_exit(1);
        }
        if (shield_.progress >= 0) ::close(shield_.progress);
        report(ShieldReport::Kind::started, command_);
    }

    /// Ends this process when nobody is left. First it takes the addresses off: the guard would,
    /// too, but it may have been killed since it sent SIGTERM.
    void reap() {
        int status = 0;
        pid_t child = 0;
        while ((child = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
            if (child != command_) continue;
            if (WIFSTOPPED(status)) {
                report(ShieldReport::Kind::stopped, WSTOPSIG(status));
            } else {
                report(ShieldReport::Kind::ended, status);
                command_ = 0;
            }
        }
        if (child > 0 || errno != ECHILD) return;
        if (held_.take_off()) ::_exit(0);
        killing_ = true;  // and soon again
    }

    bool must_kill() {
        if (guard_gone_) return killing_ = true;
        const auto seen = shield_.page.read();
        if (seen && seen->epoch == shield_.lease.epoch) deadline_ = seen->deadline;
        return killing_ = !protocol::lease_valid(read_clock(), last_moment());
    }

    /// Later than the guard's own, so that what the guard does in time is left to it.
    protocol::Instant last_moment() const { return deadline_ - shield_.settings.kill_safety / 2; }

    void kill_all() {
        if (command_ > 0) ::kill(-command_, SIGKILL);
        kill_descendants(::getpid(), {}, false);
        held_.take_off();
    }

    void arm() {
        const protocol::Instant now = read_clock();
        constexpr std::int64_t kill_again_after_ns = 1'000'000;
        const std::int64_t wait_ns =
            killing_ ? kill_again_after_ns : protocol::lease_wait(now, last_moment()).ns;
        arm_boottime_timer(timer_.get(), now.boottime_ns + std::max<std::int64_t>(wait_ns, 0));
    }

    const Shield& shield_;
    HeldAddresses held_{shield_.settings.device, shield_.settings.command};
    OwnedFd children_ = child_ends();
    OwnedFd timer_ = make_boottime_timer();
    protocol::Instant deadline_ = shield_.lease.deadline;
    pid_t command_ = 0;
    bool killing_ = false;
    bool guard_gone_ = false;
};

}  // namespace

void run_shield(const Shield& shield) {
    ::prctl(PR_SET_NAME, "bullring-shield", 0, 0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    Parent(shield).run();
}

}  // namespace bullring
