// Whose status is taken by whom: children of this program's own, and those that it was given.
#include "src/base/os/children.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace bullring::children_test {

namespace {

pid_t shell(const std::string& text) {
    std::string words[] = {"sh", "-c", text};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    const auto child = spawn_child("/bin/sh", nullptr, nullptr, arguments, environ).value();
    return child;
}

/// Runs in a process of its own, which has no other children: its exit status. Threads are as few
/// there as after any fork.
int in_child(const std::function<bool()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

bool is_own(pid_t child) {
    const auto own = own_children();
    return std::find(own.begin(), own.end(), child) != own.end();
}

void wait_until_dead(pid_t child) {
    siginfo_t found{};
    ::waitid(P_PID, static_cast<id_t>(child), &found, WEXITED | WNOWAIT);
}

}  // namespace

TEST_CASE("children: the status of one that is waited for is left to whoever waits") {
    const pid_t child = shell("exit 3");
    CHECK(is_own(child));
    wait_until_dead(child);
    CHECK_FALSE(reap_orphans());
    const int status = wait_for_child(child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
    CHECK_FALSE(is_own(child));
}

TEST_CASE("children: the orphans that a process is given are taken away") {
    CHECK(in_child([] {
              ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
              wait_for_child(shell("sh -c 'exit 5' & sh -c 'exit 6' &"));
              // Two of them, which die when they like.
              while (::waitid(P_ALL, 0, nullptr, WEXITED | WNOWAIT) == 0)
                  if (!reap_orphans()) return false;
              return errno == ECHILD;
          }) == 0);
}

TEST_CASE("children: one that was there before is this program's own as long as it lives") {
    CHECK(in_child([] {
              const pid_t earlier = ::fork();
              if (earlier == 0) ::_exit(0);
              wait_until_dead(earlier);
              count_as_own({earlier});
              return is_own(earlier) && reap_orphans() && !is_own(earlier);
          }) == 0);
}

TEST_CASE("children: one whose status somebody else has taken has not succeeded") {
    const pid_t child = shell("exit 0");
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const int told = wait_for_child(child);
    CHECK(WIFEXITED(told));
    CHECK(WEXITSTATUS(told) == 127);
    CHECK_FALSE(is_own(child));
}

TEST_CASE("children: one that does not end in time is told from one that does") {
    const pid_t sleeper = shell("exec sleep 1000");
    CHECK_FALSE(child_ends_within(sleeper, protocol::milliseconds(20)));
    ::kill(sleeper, SIGKILL);
    CHECK(child_ends_within(sleeper, protocol::seconds(60)));
    CHECK(WTERMSIG(wait_for_child(sleeper)) == SIGKILL);
}

}  // namespace bullring::children_test
