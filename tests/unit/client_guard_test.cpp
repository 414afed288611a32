// Attached processes that are to end with their node, on the side of the node. What the undertaker
// does about them is in undertaker_test.cpp.
#include "src/task/attach/client_guard.hpp"

#include <asio/io_context.hpp>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"
#include "tests/support/transport_harness.hpp"

namespace bullring::client_guard_test {

namespace {

using protocol::Epoch;

OwnedFd descriptor_of(pid_t process) {
    return OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

protocol::Timing with_lease(protocol::Duration lease) {
    protocol::Timing timing;
    timing.lease = lease;
    return timing;
}

struct Node {
    asio::io_context io;
    LoopPulse pulse;
    Undertaker undertaker{{}};
    ClientGuard guard{io,
                      {undertaker, false, {protocol::NodeId{1}, protocol::Incarnation{1}}},
                      pulse,
                      with_lease(protocol::milliseconds(500))};
};

}  // namespace

TEST_CASE("client guard: who can't be watched, or not be killed, can't be ended with the node") {
    Node node;
    CHECK(node.guard.prepare(-1).error() == "this process can't be watched, and so not be killed");
    const OwnedFd first = descriptor_of(1);
    const pid_t child = ::fork();
    if (child == 0) {
        // As a user who may not signal the first process of the machine.
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
        const auto prepared = node.guard.prepare(first.get());
        ::_exit(!prepared && prepared.error() ==
                                 "the node can't kill this process, which has to have its user: "
                                 "Operation not permitted"
                    ? 0
                    : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK_FALSE(node.undertaker.runs());
}

TEST_CASE("client guard: a process is killed somewhat before its lease ends, and only if it leads" *
          doctest::skip(thread_sanitizer)) {
    Node node;
    const test::Child child([] {
        while (true) ::pause();
    });
    const OwnedFd process = descriptor_of(child.pid());
    REQUIRE(node.guard.prepare(process.get()));
    CHECK(node.undertaker.runs());
    CHECK(node.pulse.client_until_ns == 0);
    node.guard.prolong(INT64_MAX);  // of nobody
    CHECK(node.pulse.client_until_ns == 0);

    const std::int64_t until = INT64_MAX / 2;
    node.guard.begin(process.get(), Epoch{1}, until);
    // A tenth of the usual lease of 500 ms.
    CHECK(node.pulse.client_until_ns == until - 50'000'000);
    CHECK(node.guard.killed_at(until) == until - 50'000'000);
    CHECK(node.pulse.others_act());
    node.guard.prolong(until + 7);
    CHECK(node.pulse.client_until_ns == until - 50'000'000 + 7);
    node.guard.end();
    CHECK_FALSE(node.pulse.others_act());
    node.guard.prolong(until);
    CHECK_FALSE(node.pulse.others_act());
}

}  // namespace bullring::client_guard_test
