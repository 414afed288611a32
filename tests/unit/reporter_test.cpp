// Tests the log of refused handshakes, which anybody can cause.
#include "src/node/report/reporter.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include "src/base/log/logging.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::reporter_test {

TEST_SUITE_BEGIN("realtime");

using protocol::HandshakeRefused;
using protocol::Refused;

namespace {

/// Node 1 of three, whose members' host is 10.0.0.1.
class Told {
public:
    /// The lines that these refusals make, and no others.
    static std::vector<std::string> lines(const std::vector<HandshakeRefused>& refusals) {
        std::vector<std::string> lines;
        start_logging_to(LogLevel::error,
                         [&lines](LogLevel, std::string_view line) { lines.emplace_back(line); });
        // Each thread has limits of its own.
        std::thread([&] { tell(refusals); }).join();
        stop_logging();
        return lines;
    }

private:
    static void tell(const std::vector<HandshakeRefused>& refusals) {
        asio::io_context io;
        const protocol::Config config = test::config_for(1, {1, 2, 3});
        LoopPulse pulse;
        Reporter reporter(io, config, {}, nullptr, std::nullopt, pulse,
                          [](const std::string& address) {
                              const std::string host = address.substr(0, address.rfind(':'));
                              return LogSource{host, host == "10.0.0.1"};
                          });
        for (const HandshakeRefused& refusal : refusals) {
            std::vector<protocol::Action> actions{refusal};
            reporter.add(protocol::Instant{}, actions, {});
        }
        reporter.stopped("the end");
    }
};

bool says(const std::vector<std::string>& lines, const std::string& words) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(words) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("reporter: a refusal is said once for each pair of members, whoever was first") {
    const Refused here{"algorithm", "bully", "ring"};
    const Refused there{"algorithm", "ring", "bully"};
    const auto lines = Told::lines({{{2}, true, here, "10.0.0.1:4001"},
                                    {{2}, false, there, ""},
                                    {{2}, true, here, "10.0.0.1:4002"},
                                    {{3}, false, there, ""},
                                    {{3}, true, here, "10.0.0.1:4003"}});
    REQUIRE(lines.size() == 2);
    CHECK(says(lines,
               "refused node 2 at 10.0.0.1:4001 in the handshake: algorithm is 'bully' here "
               "and 'ring' there"));
    CHECK(says(lines,
               "refused by node 3 in the handshake: algorithm is 'bully' here and 'ring' "
               "there"));
}

TEST_CASE("reporter: strangers' refusals are few lines, and members' are still told") {
    std::vector<HandshakeRefused> refusals;
    for (int i = 0; i < 5000; ++i) {
        const std::string name = "name \x1b[31m" + std::to_string(i);
        refusals.push_back(
            {{2}, true, {"cluster", "blue", name}, "10.1.0." + std::to_string(i % 250) + ":1"});
        refusals.push_back(
            {{static_cast<std::uint64_t>(i)}, true, {"id", "one of 1,2,3", name}, "10.2.0.1:1"});
    }
    refusals.push_back({{3}, true, {"cluster", "blue", "green"}, "10.0.0.1:4001"});
    const auto lines = Told::lines(refusals);
    CHECK(lines.size() <= LogLimit::strangers_max + 2);
    CHECK(says(lines, "refused node 3 at 10.0.0.1:4001"));
    CHECK_FALSE(says(lines, "\x1b"));
}

TEST_CASE("reporter: a process on a member's host that says ever new things is limited, too") {
    std::vector<HandshakeRefused> refusals;
    for (int i = 0; i < 5000; ++i) {
        refusals.push_back({{static_cast<std::uint64_t>(2 + i % 2)},
                            true,
                            {"cluster", "blue", std::to_string(i)},
                            "10.0.0.1:4001"});
    }
    CHECK(Told::lines(refusals).size() == 2);
}

TEST_CASE("reporter: a refusal without its reason says where the reason stands") {
    const auto lines = Told::lines({{{2}, false, {"address", "", "10.7.0.1"}, ""}});
    REQUIRE(lines.size() == 1);
    CHECK(says(lines, "refused by node 2 in the handshake: this node comes from 10.7.0.1"));
}

TEST_SUITE_END();

}  // namespace bullring::reporter_test
