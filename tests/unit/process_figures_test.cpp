#include "src/base/os/process_figures.hpp"

#include <ctime>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/prctl.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring::process_figures_test {

TEST_CASE("process figures: they are this process's, whatever it is called") {
    char name[16] = {};
    REQUIRE(::prctl(PR_GET_NAME, name) == 0);
    REQUIRE(::prctl(PR_SET_NAME, "a) 1 (b") == 0);
    const auto before = process_figures();
    ::prctl(PR_SET_NAME, name);
    REQUIRE(before.has_value());
    CHECK(before->resident_bytes > 1 << 20);
    CHECK(before->virtual_bytes > before->resident_bytes);
    CHECK(before->max_fds >= before->open_fds);
    const auto now = static_cast<double>(std::time(nullptr));
    CHECK(before->start_time_seconds <= now + 1);
    CHECK(before->start_time_seconds > now - 24 * 3600);

    std::vector<OwnedFd> more;
    for (int i = 0; i < 5; ++i) more.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    // So that some of the processor's time is used.
    volatile std::uint64_t sum = 0;
    std::optional<ProcessFigures> after;
    do {
        for (std::uint64_t i = 0; i < 10'000'000; ++i) sum = sum + i;
        after = process_figures();
        REQUIRE(after.has_value());
    } while (after->cpu_seconds <= before->cpu_seconds);
    CHECK(after->open_fds == before->open_fds + 5);
}

}  // namespace bullring::process_figures_test
