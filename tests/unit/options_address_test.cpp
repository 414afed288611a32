// Tests how `bullring address` reads its flags.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/parsed_options.hpp"

namespace bullring::options_address_test {

namespace {

using namespace bullring::test;

const Words node_words{"address", "--id", "2", "--peers", three_peers};

RunOptions address_of(const Words& more) { return options_of<RunOptions>(with(node_words, more)); }
std::vector<std::string> address_problems(const Words& more) {
    return problems_of(with(node_words, more));
}

}  // namespace

TEST_CASE("options: the command of address is its addresses, wherever they stand") {
    const RunOptions options = address_of({"10.0.0.9/24", "--dev", "eth0", "2001:DB8::9/64"});
    CHECK(options.device == "eth0");
    CHECK(options.command == Command{"10.0.0.9/24", "2001:db8::9/64"});
    CHECK(address_of({"--address", "10.0.0.9/24,10.0.0.8/32", "--dev", "eth0"}).command ==
          Command{"10.0.0.9/24", "10.0.0.8/32"});
    CHECK(address_of({"--dev", "eth0", "--", "10.0.0.9/24"}).command == Command{"10.0.0.9/24"});
}

TEST_CASE("options: address leads as run does, and is told to end as fast as it can") {
    const RunOptions options = address_of({"10.0.0.9/24", "--dev", "eth0"});
    CHECK_FALSE(options.node.config.preempt);
    CHECK_FALSE(options.node.config.tie);
    CHECK(options.kill_after == holder_ends_in);
    CHECK(options.on_exit == OnExit::stay);
    CHECK(options.restart_delay == protocol::milliseconds(100));
    CHECK(options.longest_restart_delay == protocol::seconds(1));
    CHECK(options.restart_delay_if_killed == protocol::milliseconds(100));
}

TEST_CASE("options: all that is wrong with addresses is told at once") {
    CHECK(address_problems({"10.0.0.9", "127.0.0.1/8"}).size() == 3);
    CHECK(address_problems({"--dev", "eth0"}).size() == 1);
    CHECK(address_problems({"10.0.0.9/24", "--dev", "eth0", "--address", "10.0.0.8/24"}).size() ==
          1);
    CHECK(address_problems({",", "--dev", "eth0"}).size() == 1);
}

TEST_CASE("options: a lease without room to take the address off is refused by no flag of run") {
    const Words sound{"10.0.0.9/24", "--dev", "eth0"};
    const Words times{"--suspect-after", "200ms", "--heartbeat", "50ms", "--lease", "305ms"};
    const auto short_lease = address_problems(with(sound, times));
    CHECK(one_has(short_lease,
                  "the time to take the address off (10ms) + suspect-after (200ms) + "
                  "2 × heartbeat (100ms) must be ≤ lease (305ms)"));
    const auto low_maximum = address_problems(with(sound, {"--lease-max", "505ms"}));
    CHECK(low_maximum == std::vector<std::string>{
                             "timing (profile lan): lease (510ms) must be ≤ lease-max (505ms)"});
    for (const auto& problems : {short_lease, low_maximum})
        CHECK_FALSE(one_has(problems, "kill-after"));
}

}  // namespace bullring::options_address_test
