#include "src/cli/options/environment.hpp"

#include <algorithm>
#include <cstdlib>

#include <doctest/doctest.h>

#include "src/base/os/child_variables.hpp"
#include "src/settings/flags.hpp"

namespace bullring::environment_test {

TEST_CASE("environment: a variable that nearly sets something is told, with what does") {
    const std::vector<std::string> told =
        misspelt_variables("node", {{"BULLRING_LEESE", "2s"}, {"BULLRING_LOGLEVEL", "debug"}});
    REQUIRE(told.size() == 2);
    CHECK(told[0] ==
          "the environment variable BULLRING_LEESE sets nothing; did you mean BULLRING_LEASE?");
    CHECK(told[1] ==
          "the environment variable BULLRING_LOGLEVEL sets nothing; did you mean "
          "BULLRING_LOG_LEVEL?");
}

TEST_CASE(
    "environment: what is set, told by a node, made by Kubernetes, or far from all is quiet") {
    Environment environment{{"BULLRING_LEASE", "2s"},
                            {"BULLRING_JSON", "on"},
                            {"BULLRING_PORT", "tcp://10.0.0.9:7100"},
                            {"BULLRING_PORT_7100_TCP_ADDR", "10.0.0.9"},
                            {"BULLRING_SERVICE_HOST", "10.0.0.9"},
                            {"BULLRING_SERVICE_PORT", "7100"},
                            {"BULLRING_BIN", "/usr/bin/bullring"},
                            {"BULLRING_BUILD", "/tmp"},
                            {"LEESE", "2s"}};
    for (const std::string_view name : variables::all) environment.emplace(name, "1");
    CHECK(misspelt_variables("node", environment).empty());
}

TEST_CASE("environment: what is near to a flag of another subcommand is quiet") {
    const Environment environment{{"BULLRING_OUTT", "key"}};
    CHECK(misspelt_variables("audit", environment).empty());
    CHECK(misspelt_variables("key", environment).size() == 1);
}

TEST_CASE("environment: a command has what the user has set, and not what this process was told") {
    ::setenv("BULLRING_PEERS", "1=a:1", 1);
    ::setenv("BULLRING_EPOCH", "6", 1);
    const std::vector<std::string> all =
        environment_with({environment_entry(variables::epoch, "7")});
    ::unsetenv("BULLRING_PEERS");
    ::unsetenv("BULLRING_EPOCH");
    const auto count = [&](const char* text) { return std::count(all.begin(), all.end(), text); };
    CHECK(count("BULLRING_PEERS=1=a:1") == 1);
    CHECK(count("BULLRING_EPOCH=7") == 1);
    CHECK(count("BULLRING_EPOCH=6") == 0);
}

TEST_CASE("environment: what a command is told configures no bullring below it") {
    for (const Flag& flag : flag_table())
        CHECK_FALSE(is_child_variable(environment_name(flag.name)));
}

}  // namespace bullring::environment_test
