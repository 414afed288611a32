// Waiting for children and passing descriptors on in a process that has none left, and what a
// killed one closes first.
#include "src/base/os/descriptors.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/record_socket.hpp"
#include "src/base/os/watch_child.hpp"
#include "src/task/supervisor/guard_records.hpp"

namespace bullring::descriptors_test {

namespace {

/// No descriptor can be opened in this process any more.
void use_up_descriptors() {
    const int next = ::dup(0);
    const rlimit none{static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
    ::close(next);
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0 || ::dup(0) != -1) ::_exit(2);
}

/// Runs `body`, which has to say true, in a process of its own, with and without descriptors left.
template <class Body>
void in_both(Body body) {
    for (const bool none_left : {false, true}) {
        CAPTURE(none_left);
        const pid_t pid = ::fork();
        if (pid == 0) {
            if (none_left) use_up_descriptors();
            ::_exit(body() ? 0 : 1);
        }
        int status = -1;
        REQUIRE(::waitpid(pid, &status, 0) == pid);
        CHECK(status == 0);
    }
}

}  // namespace

TEST_CASE("watch child: a child that ends is seen, and left to be reaped") {
    in_both([] {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(7);
        if (watch_child(child, {}, -1) != ChildWatch::ended) return false;
        int status = 0;
        return ::waitpid(child, &status, WNOHANG) == child && WEXITSTATUS(status) == 7;
    });
}

TEST_CASE("watch child: a child that does not end is waited for no longer than was asked") {
    in_both([] {
        const pid_t child = ::fork();
        if (child == 0) {
            ::pause();
            ::_exit(0);
        }
        const bool timed_out = watch_child(child, {}, 30) == ChildWatch::timeout &&
                               watch_child(child, {}, 0) == ChildWatch::timeout;
        ::kill(child, SIGKILL);
        return timed_out && watch_child(child, {}, -1) == ChildWatch::ended &&
               ::waitpid(child, nullptr, 0) == child;
    });
}

TEST_CASE("watch child: the other descriptor ends the wait") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], "x", 1) == 1);
    in_both([&] {
        const pid_t child = ::fork();
        if (child == 0) {
            ::pause();
            ::_exit(0);
        }
        const bool woken = watch_child(child, {ends[0]}, -1) == ChildWatch::woken;
        ::kill(child, SIGKILL);
        return woken && ::waitpid(child, nullptr, 0) == child;
    });
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("records: a descriptor for which its receiver has no room is an error, and not nothing") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    GuardOrder order;
    order.kind = GuardOrder::Kind::hold;
    const pid_t pid = ::fork();
    if (pid == 0) {
        GuardOrder received;
        OwnedFd descriptor;
        use_up_descriptors();
        if (!send_record(ends[0], &order, sizeof order, 0)) ::_exit(3);
        const int result = receive_record(ends[1], &received, sizeof received, descriptor);
        ::_exit(result == -1 && errno == EMFILE && !descriptor ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("descriptors: the limit is raised as far as needed, and what is missing is told") {
    const pid_t pid = ::fork();
    if (pid == 0) {
        const auto set = [](rlim_t soft, rlim_t hard) {
            const rlimit limit{soft, hard};
            return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
        };
        const auto soft = [] {
            rlimit limit{};
            ::getrlimit(RLIMIT_NOFILE, &limit);
            return limit.rlim_cur;
        };
        if (!set(256, 4096)) ::_exit(2);
        raise_descriptor_limit(100);
        if (soft() != 256) ::_exit(3);
        raise_descriptor_limit(1000);
        if (soft() != 1000 || descriptor_shortage(1000)) ::_exit(4);
        if (descriptor_limit_before() != 256) ::_exit(10);
        set_descriptor_limit(0, descriptor_limit_before());
        if (soft() != 256) ::_exit(11);
        set_descriptor_limit(0, 0);
        if (soft() != 256) ::_exit(12);
        if (!set(256, 512)) ::_exit(5);
        raise_descriptor_limit(1000);
        const auto shortage = descriptor_shortage(1000);
        if (soft() != 512 || !shortage) ::_exit(6);
        if (shortage->find("512") == std::string::npos) ::_exit(7);
        if (shortage->find("1000") == std::string::npos) ::_exit(8);
        // Of 512 the last 32 and 4 for each peer.
        if (is_reserved_descriptor(471, 3) || !is_reserved_descriptor(472, 3)) ::_exit(9);
        ::_exit(0);
    }
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
}

TEST_CASE("descriptors: a thread that has left them does not keep a killed process's open") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        arrange_descriptors(3);
        std::promise<bool> left;
        // It lives on for ever; only a descriptor of its own could keep the pipe open.
        std::thread([&] {
            left.set_value(leave_shared_descriptors());
            while (true) ::pause();
        }).detach();
        if (!left.get_future().get()) ::_exit(1);
        ::close(ends[1]);
        while (true) ::pause();
    }
    ::close(ends[1]);
    pollfd ended{ends[0], POLLIN, 0};
    CHECK(::poll(&ended, 1, 5000) == 1);  // although that thread was made while it was open
    ::kill(pid, SIGKILL);
    int status = 0;
    CHECK(::waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status));  // it has not ended before
    ::close(ends[0]);
}

TEST_CASE("descriptors: what was not arranged stays as it is") {
    const pid_t pid = ::fork();
    if (pid == 0) {
        const int before = ::dup(0);
        const OwnedFd after = closed_in_order(OwnedFd(before), 1);
        ::_exit(after.get() == before && !leave_shared_descriptors() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
}

TEST_CASE("descriptors: of a dead process the one of the highest order is closed first") {
    arrange_descriptors(4);
    const OwnedFd poll(::epoll_create1(EPOLL_CLOEXEC));
    std::array<OwnedFd, 4> here;
    std::array<OwnedFd, 4> there;
    const std::array<std::size_t, 4> orders{2, 0, 3, 1};
    for (std::size_t i = 0; i < orders.size(); ++i) {
        int pair[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        here[i] = OwnedFd(pair[0]);
        there[i] = closed_in_order(OwnedFd(pair[1]), orders[i]);
        CHECK(there[i].get() >= 100 + 8 * static_cast<int>(orders[i]));
        epoll_event event{EPOLLIN, {.u64 = orders[i]}};
        REQUIRE(::epoll_ctl(poll.get(), EPOLL_CTL_ADD, pair[0], &event) == 0);
    }
    const pid_t pid = ::fork();
    if (pid == 0)
        while (true) ::pause();
    for (OwnedFd& fd : there) fd = OwnedFd();
    ::kill(pid, SIGKILL);
    REQUIRE(::waitpid(pid, nullptr, 0) == pid);
    std::array<epoll_event, 4> ended{};
    REQUIRE(::epoll_wait(poll.get(), ended.data(), 4, 0) == 4);
    std::vector<std::uint64_t> order;
    for (const epoll_event& event : ended) order.push_back(event.data.u64);
    CHECK(order == std::vector<std::uint64_t>{3, 2, 1, 0});
}

TEST_CASE("descriptors: without any left it stays where it is") {
    in_both([] {
        arrange_descriptors(3);
        const int before = ::dup(0);
        OwnedFd fd(before >= 0 ? before : 0);
        const int number = fd.get();
        OwnedFd after = closed_in_order(std::move(fd), 1);
        const bool moved = after.get() != number;
        if (before < 0) after.release();
        return before < 0 ? !moved : moved;
    });
}

}  // namespace bullring::descriptors_test
