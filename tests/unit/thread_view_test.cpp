// Tests the kernel's data on a thread, read from another process.
#include "src/watch/thread_view.hpp"

#include <chrono>
#include <thread>

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bullring::thread_view_test {

namespace {

/// A child that runs `body` until it is killed.
template <class Body>
class Child {
public:
    explicit Child(Body body) : pid_(::fork()) {
        if (pid_ != 0) return;
        while (true) body();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

private:
    pid_t pid_;
};

/// Whether it is seen so within ten seconds.
template <class Predicate>
bool is_seen(const ThreadView& view, Predicate predicate) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < limit) {
        const auto look = view.look();
        if (look && predicate(*look)) return true;
        std::this_thread::yield();
    }
    return false;
}

}  // namespace

TEST_CASE("thread view: one that sleeps, is stopped and goes on is seen so") {
    const Child child([] { ::pause(); });
    const ThreadView view(child.pid(), child.pid());
    CHECK(is_seen(view, [](ThreadLook look) { return look.state == 'S'; }));
    ::kill(child.pid(), SIGSTOP);
    CHECK(is_seen(view, [](ThreadLook look) { return look.state == 'T'; }));
    ::kill(child.pid(), SIGCONT);
    CHECK(is_seen(view, [](ThreadLook look) { return look.state == 'S'; }));
}

TEST_CASE("thread view: of one that runs it is seen what it has run") {
    const Child child([] {});
    const ThreadView view(child.pid(), child.pid());
    std::int64_t first = -1;
    CHECK(is_seen(view, [&](ThreadLook look) {
        if (look.state != 'R' || look.ran_ns < 0) return false;
        if (first < 0) first = look.ran_ns;
        return look.ran_ns > first;
    }));
}

TEST_CASE("thread view: nothing is seen of one that is gone, or never was") {
    std::optional<ThreadView> view;
    {
        const Child child([] { ::pause(); });
        view.emplace(child.pid(), child.pid());
        CHECK(view->look());
    }
    CHECK_FALSE(view->look());
    CHECK_FALSE(ThreadView(-1, -1).look());
}

TEST_CASE("thread view: where /proc numbers the processes of others nothing is seen") {
    constexpr int no_namespace = 77;
    const pid_t maker = ::fork();
    if (maker == 0) {
        if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
            ::_exit(no_namespace);
        const pid_t first = ::fork();
        // Number 1 in its own namespace; in /proc that is another process.
        if (first == 0) ::_exit(ThreadView(::getpid(), ::getpid()).look() ? 1 : 0);
        int status = 0;
        ::waitpid(first, &status, 0);
        ::_exit(WEXITSTATUS(status));
    }
    int status = 0;
    ::waitpid(maker, &status, 0);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == no_namespace) return;
    CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace bullring::thread_view_test
