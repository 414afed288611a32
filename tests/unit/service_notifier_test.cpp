#include "src/node/service_notifier.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

namespace bullring::service_notifier_test {

namespace {

/// The values that are taken of these variables, all of which are removed.
ManagerVariables take(const char* socket, const char* usec, const char* pid) {
    const auto set = [](const char* name, const char* value) {
        if (value != nullptr) ::setenv(name, value, 1);
    };
    set("NOTIFY_SOCKET", socket);
    set("WATCHDOG_USEC", usec);
    set("WATCHDOG_PID", pid);
    ManagerVariables taken = take_manager_variables();
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"})
        CHECK(std::getenv(name) == nullptr);
    return taken;
}

protocol::View view_of(protocol::Role role, std::uint64_t leader, const char* why) {
    protocol::View view;
    view.role = role;
    view.leader = {leader};
    view.epoch = {7};
    view.why = why;
    return view;
}

}  // namespace

TEST_CASE("service: the variables are taken whole, and a watchdog of this process only") {
    const std::string self = std::to_string(::getpid());
    const ManagerVariables taken = take("/run/notify", "2000000", self.c_str());
    CHECK(taken.socket == "/run/notify");
    CHECK(taken.watchdog == protocol::seconds(2));
    CHECK(taken.problem.empty());
    CHECK(take("@abstract", "2000000", nullptr).watchdog == protocol::seconds(2));
    CHECK(take("@abstract", "2000000", "1").watchdog == protocol::Duration{0});
    CHECK(take("@abstract", nullptr, nullptr).socket == "@abstract");
    CHECK(take(nullptr, "2000000", self.c_str()).socket.empty());
    CHECK(take("", "2000000", nullptr).problem.empty());
}

TEST_CASE("service: what can't be used is named, and nothing is told to it") {
    for (const std::string& wrong : {std::string("relative"), std::string("/"),
                                     std::string("vsock:2:1"), "/" + std::string(107, 'x')}) {
        CAPTURE(wrong);
        const ManagerVariables taken = take(wrong.c_str(), nullptr, nullptr);
        CHECK(taken.socket.empty());
        CHECK(taken.problem.find("'" + wrong + "'") != std::string::npos);
    }
    CHECK(take(("/" + std::string(106, 'x')).c_str(), nullptr, nullptr).problem.empty());
    for (const char* wrong : {"0", "-1", "1s", "99999999999999999999", "1000000000001"}) {
        CAPTURE(wrong);
        const ManagerVariables taken = take("/run/notify", wrong, nullptr);
        CHECK(taken.socket == "/run/notify");
        CHECK(taken.watchdog == protocol::Duration{0});
        CHECK(taken.problem.find(wrong) != std::string::npos);
    }
}

TEST_CASE("service: the status has role, leader, epoch and the reason on one line") {
    using protocol::Role;
    CHECK(service_status(view_of(Role::leader, 3, "leads with grants of 1, 3")) ==
          "leader, epoch 7: leads with grants of 1, 3");
    CHECK(service_status(view_of(Role::follower, 3, "follows 3")) ==
          "follower, epoch 7: follows 3");
    CHECK(service_status(view_of(Role::follower, 0, "no majority: hears 1 of 3")) ==
          "follower, no leader: no majority: hears 1 of 3");
    CHECK(service_status(view_of(Role::stepping_down, 3, "unhealthy: a\nSTOPPING=1")) ==
          "follower, epoch 7: unhealthy: a STOPPING=1");
}

}  // namespace bullring::service_notifier_test
