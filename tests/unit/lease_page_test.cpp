#include "src/watch/lease_page.hpp"

#include <atomic>
#include <functional>
#include <thread>

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bullring::lease_page_test {

TEST_CASE("lease page: nobody leads at first, and what is written is read") {
    LeasePage page;
    CHECK(page.read() == LeaseSnapshot{});
    page.write({{7}, {100, 200}});
    CHECK(page.read() == LeaseSnapshot{{7}, {100, 200}});
}

TEST_CASE("lease page: a reader never sees half of a change") {
    LeasePage page;
    std::atomic<bool> done{false};
    std::thread writer([&] {
        for (std::int64_t i = 1; i <= 200'000; ++i)
            page.write({{static_cast<std::uint64_t>(i)}, {i, 2 * i}});
        done = true;
    });
    while (!done) {
        const auto seen = page.read();
        if (!seen || seen->epoch.value == 0) continue;
        const auto i = static_cast<std::int64_t>(seen->epoch.value);
        REQUIRE(seen->deadline == protocol::Instant{i, 2 * i});
    }
    writer.join();
}

TEST_CASE("lease page: a child leads nothing, by whichever call it was made") {
    const std::shared_ptr<LeasePage> page = make_private_lease_page();
    CHECK(page->read() == LeaseSnapshot{});
    page->write({{7}, {100, 200}});
    struct Call {
        const char* name;
        std::function<pid_t()> fork;
    };
    const Call calls[] = {
        {"fork", [] { return ::fork(); }},
        {"_Fork", [] { return ::_Fork(); }},
        {"clone", [] { return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }},
    };
    for (const Call& call : calls) {
        CAPTURE(call.name);
        const pid_t child = call.fork();
        if (child == 0) {
            const auto seen = page->read();
            ::syscall(SYS_exit_group, seen && !seen->epoch ? 0 : 1);
        }
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        CHECK(page->read() == LeaseSnapshot{{7}, {100, 200}});
    }
}

TEST_CASE("lease page: another process sees it") {
    auto page = SharedLeasePage::create();
    REQUIRE(page);
    (*page)->write({{7}, {100, 200}});
    auto other = SharedLeasePage::map(page->fd());
    REQUIRE(other);
    CHECK((*other)->read() == LeaseSnapshot{{7}, {100, 200}});
    CHECK_FALSE(SharedLeasePage::map(-1));
}

}  // namespace bullring::lease_page_test
