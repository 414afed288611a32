#include "src/task/supervisor/guard_settings.hpp"

#include <doctest/doctest.h>

namespace bullring::guard_settings_test {

TEST_CASE("guard settings: what is told to a guard arrives") {
    GuardSettings settings;
    settings.socket = 3;
    settings.page = 4;
    settings.terminal_group = 1234;
    settings.kill_after = protocol::seconds(2);
    settings.margin = protocol::milliseconds(2020);
    settings.kill_safety = protocol::milliseconds(20);
    settings.id = "7";
    settings.cluster = "blue";
    settings.command = {"sh", "-c", "", "--"};
    CHECK(guard_settings(guard_words(settings)) == settings);
    settings.log_format = LogFormat::json;
    settings.ignores_hangup = true;
    settings.descriptor_limit = 1024;
    settings.node_pause = protocol::milliseconds(100);
    CHECK(guard_settings(guard_words(settings)) == settings);
    settings.progress_file = "/tmp/a b";
    settings.events_file = "-";
    settings.device = "eth0";
    CHECK(guard_settings(guard_words(settings)) == settings);
}

TEST_CASE("guard settings: whoever calls it by hand is told who should") {
    CHECK_FALSE(guard_settings({"guard"}));
    CHECK_FALSE(guard_settings({"guard", "3", "4", "x", "1", "1", "1", "1", "blue", "", "true"}));
    CHECK_FALSE(guard_settings({"guard", "3", "4", "0", "1", "1", "1", "1", "blue", ""}));
}

}  // namespace bullring::guard_settings_test
