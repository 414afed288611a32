// Limits, clocks and permissions of this machine.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <unistd.h>

#include "src/base/os/clock.hpp"
#include "src/base/os/clock_rate.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/realtime.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/node/clock_watch.hpp"

namespace bullring::doctor {

namespace {

/// Threads and helpers of a node, hooks and health checks among them, with room; and below what it
/// does not start.
constexpr rlim_t processes_needed = 64;
constexpr rlim_t processes_least = 12;
/// Below so many descriptors a node does not start; those for sessions come on top.
constexpr rlim_t descriptors_least = 64;
/// How far NTP steers a clock at most.
constexpr std::uint32_t steered_ppm = 500;
constexpr std::chrono::milliseconds measured_for{200};

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

void check_processes(const std::string& what, const std::string& remedy, rlim_t limit,
                     Findings& findings) {
    const std::string text = fmt::format("{} allows {}", what, limit);
    if (limit < processes_least)
        findings.fail("limit of processes", text + ", with which no node starts", remedy);
    else if (limit < processes_needed)
        findings.warn("limit of processes", text + ", which is little", remedy);
    else
        findings.ok("limit of processes", text);
}

void check_clock_rate(Findings& findings) {
    const ClockPair begin = read_clock_pair();
    std::this_thread::sleep_for(measured_for);
    const auto ppm = correction_ppm(begin, read_clock_pair());
    if (!ppm)
        return findings.note("clock", "this machine pauses too often for its rate to be measured");
    const std::string rate = correction_text(*ppm);
    const protocol::Timing timing;
    if (!is_within(*ppm, timing.rho_ppm))
        findings.fail(
            "clock",
            fmt::format("{}, more than the {} ppm that leases allow for", rate, timing.rho_ppm),
            "leases of this machine mean nothing: set its rate right (adjtimex, chronyd)");
    else if (!is_within(*ppm, steered_ppm))
        findings.warn("clock", rate + ", which is a lot", "see chronyc tracking");
    else
        findings.ok("clock", rate);
}

}  // namespace

std::optional<std::uint64_t> limit_of_group() {
    std::ifstream groups("/proc/self/cgroup");
    std::optional<std::uint64_t> least;
    const auto look = [&](const std::string& path) {
        const std::string limit = first_line(path + "/pids.max");
        std::uint64_t number = 0;
        const auto [end, error] =
            std::from_chars(limit.data(), limit.data() + limit.size(), number);
        if (error == std::errc{} && end == limit.data() + limit.size())
            least = std::min(least.value_or(number), number);
    };
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controller = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        // A container sees its own group as the root.
        if (controller.empty()) look("/sys/fs/cgroup" + path), look("/sys/fs/cgroup");
        if (controller == "pids") look("/sys/fs/cgroup/pids" + path), look("/sys/fs/cgroup/pids");
    }
    return least;
}

void check_limits(const NodeOptions& options, const std::optional<std::uint64_t>& of_group,
                  Findings& findings) {
    const std::size_t needed = descriptors_needed(options.peers.size());
    raise_descriptor_limit(needed);
    ::rlimit files{};
    const std::string files_remedy = "ulimit -n, or LimitNOFILE= of the unit";
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < descriptors_least)
        findings.fail("limit of open files",
                      fmt::format("{} are allowed, with which no node starts", files.rlim_cur),
                      files_remedy);
    else if (const auto shortage = descriptor_shortage(needed))
        findings.warn("limit of open files", *shortage, files_remedy);
    else
        findings.ok("limit of open files", fmt::format("{} are enough and allowed", needed));

    const std::string each = fmt::format("{} for each node", processes_needed);
    ::rlimit processes{};
    // It counts for nobody who may do without it.
    if (::geteuid() != 0 && ::getrlimit(RLIMIT_NPROC, &processes) == 0 &&
        processes.rlim_cur != RLIM_INFINITY)
        check_processes("the limit of this user, for all processes and threads,",
                        "ulimit -u, or LimitNPROC= of the unit: " + each, processes.rlim_cur,
                        findings);
    if (of_group)
        check_processes("this control group", "TasksMax= of the unit, or pids.max: " + each,
                        *of_group, findings);
}

void check_clock(Findings& findings) {
    check_clock_rate(findings);
    ::timex clock{};
    if (::adjtimex(&clock) < 0)
        findings.note("wall clock", "whether it is kept can't be read here");
    else if ((clock.status & STA_UNSYNC) != 0)
        findings.note("wall clock",
                      "no NTP client reports to the kernel that it keeps it; leases don't need "
                      "that, and audit needs it to compare hosts");
    else if (read_wall_clock().before_build)
        findings.warn("wall clock", "it is before this program was built",
                      "set it: a new cluster's epochs begin above it");
    else
        findings.ok("wall clock",
                    fmt::format("it is kept, to within {} ms", clock.maxerror / 1000));
    const std::string source =
        first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if (source == "hpet" || source == "acpi_pm" || source == "jiffies")
        findings.warn("clock source", source + " is slow to read and coarse",
                      "see why the kernel gave up the faster one (dmesg), or change it in "
                      "/sys/devices/system/clocksource");
}

void check_realtime(const NodeOptions& options, Findings& findings) {
    const bool by_profile = options.realtime == RealtimeMode::automatic &&
                            options.profile == protocol::Profile::realtime;
    if (options.realtime != RealtimeMode::on && !by_profile) return;
    const auto done = make_thread_realtime();
    if (done)
        findings.ok("realtime", "SCHED_FIFO and locked memory are permitted");
    else if (by_profile)
        findings.warn("realtime", done.error(),
                      "--profile realtime without it: pauses of the machine cost leaderships");
    else
        findings.fail("realtime", done.error(), "or take --realtime off");
}

}  // namespace bullring::doctor
