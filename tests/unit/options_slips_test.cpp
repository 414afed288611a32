// Values as people write them and as other systems save them: every flag that takes a value, times
// the usual slips. A flag that is added has to be added here.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "protocol/values/names.hpp"
#include "src/base/text/text_encoding.hpp"
#include "src/cli/commands/command_options.hpp"
#include "src/cli/options/subcommand.hpp"
#include "src/settings/flags.hpp"
#include "tests/support/parsed_options.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::options_slips_test {

namespace {

using namespace bullring::test;

/// A flag whose value has a meaning of its own, and one that is sound.
struct Typed {
    const char* subcommand;
    const char* flag;
    const char* sound;
};

constexpr Typed typed[] = {
    {"node", "id", "2"},
    {"lead", "id", "2"},
    {"resign", "id", "2"},
    {"node", "peers", three_peers},
    {"status", "peers", three_peers},
    {"node", "join", "10.0.0.1:7100,node-2:7100"},
    {"node", "join-as", "10.0.0.4:7100"},
    {"node", "forget-after", "1m"},
    {"node", "cluster", "blue"},
    {"cert", "cluster", "blue"},
    {"node", "algorithm", "ring"},
    {"node", "listen", "0.0.0.0:7100"},
    {"node", "priority", "-5"},
    {"node", "preempt-delay", "3s"},
    {"node", "quorum", "majority"},
    {"node", "profile", "cloud"},
    {"node", "heartbeat", "100ms"},
    {"node", "suspect-after", "400ms"},
    {"node", "lease", "2s"},
    {"node", "lease-max", "20s"},
    {"node", "realtime", "off"},
    {"node", "bootstrap-wait", "20s"},
    {"node", "first-epoch", "clock"},
    {"node", "fast-release", "off"},
    {"node", "hang-after", "off"},
    {"node", "wire", "1"},
    {"node", "attach", "off"},
    {"node", "attach-group", "daemon"},
    {"node", "http", "127.0.0.1:8080"},
    {"node", "security", "none"},
    {"node", "health-interval", "3s"},
    {"node", "health-timeout", "1s"},
    {"node", "health-failures", "4"},
    {"run", "kill-after", "1s"},
    {"lead", "kill-after", "1s"},
    {"run", "on-exit", "vote"},
    {"run", "restart-delay", "3s"},
    {"run", "max-restarts", "4"},
    {"run", "stall-after", "1m"},
    {"address", "address", "10.0.0.9/24"},
    {"lead", "wait", "1s"},
    {"audit", "clock-error", "5ms"},
    {"status", "timeout", "3s"},
    {"resign", "to", "3"},
    {"resign", "timeout", "3s"},
    {"drill", "for", "1m"},
    {"drill", "rounds", "4"},
    {"drill", "faults", "crash,cut"},
    {"drill", "every", "3s"},
    {"cert", "days", "30"},
    {"node", "log-level", "debug"},
    {"node", "log-format", "json"},
};

/// Those that are taken as they are: paths, commands, words for others.
const std::set<std::string_view> texts = {"advertise",  "data-dir",
                                          "events",     "http-token-file",
                                          "key-file",   "observer-key-file",
                                          "tls-cert",   "tls-key",
                                          "tls-ca",     "tls-crl",
                                          "trace",      "on-elected",
                                          "on-deposed", "on-change",
                                          "health-cmd", "dev",
                                          "out",        "ca",
                                          "config",     "unit"};

/// The flags that the subcommand needs beside `flag`.
Words words_for(const Typed& one) {
    const std::string_view subcommand = one.subcommand;
    const std::string_view flag = one.flag;
    Words words{one.subcommand};
    const bool member = subcommand == "node" || subcommand == "run" || subcommand == "address";
    const bool observer = subcommand == "status" || subcommand == "resign" || subcommand == "drill";
    if (member && flag != "id") words = with(words, {"--id", "2"});
    if ((member || observer) && flag != "peers" && !(subcommand == "resign" && flag == "id"))
        words = with(words, {"--peers", three_peers});
    if (flag.starts_with("join")) words = {one.subcommand, "--id", "2", "--listen", "h:1"};
    if (flag == "join") words = with(words, {"--security", "none"});
    if (flag == "join-as") words = with(words, {"--join", "127.0.0.1:7100"});
    if (flag.starts_with("health-")) words = with(words, {"--health-cmd", "true"});
    if (subcommand == "address") words = with(words, {"--dev", "eth0"});
    if (subcommand == "lead" && flag != "id") words = with(words, {"--id", "2"});
    if (subcommand == "resign" && flag == "id") words = with(words, {"--local"});
    if (subcommand == "audit") words = with(words, {"events.jsonl"});
    if (subcommand == "cert") words = with(words, {"ca"});
    return words;
}

std::vector<std::string> problems_with(const Typed& one, const std::string& value) {
    Words words = with(words_for(one), {"--" + std::string(one.flag), value});
    const std::string_view subcommand = one.subcommand;
    if (subcommand == "run" || subcommand == "lead") words = with(words, {"--", "job"});
    return problems_of(words);
}

}  // namespace

TEST_CASE("slips: every flag with a value is tried here") {
    std::set<std::string_view> tried = texts;
    for (const Typed& one : typed) tried.insert(one.flag);
    for (const Flag& flag : flag_table()) {
        CAPTURE(std::string(flag.name));
        if (!flag.is_switch()) CHECK(tried.contains(flag.name));
    }
}

TEST_CASE("slips: blanks and foreign line ends around a value don't count") {
    for (const Typed& one : typed) {
        CAPTURE(std::string(one.flag));
        const std::string sound = one.sound;
        CHECK(problems_with(one, sound) == std::vector<std::string>{});
        for (const std::string& value : {sound + "\r", sound + " ", " " + sound, sound + "\r\n"})
            CHECK(problems_with(one, value) == std::vector<std::string>{});
    }
}

TEST_CASE("slips: quotes that no shell has taken are told, with the value") {
    for (const Typed& one : typed) {
        CAPTURE(std::string(one.flag));
        for (const char quote : {'"', '\''}) {
            const std::string value = std::string(1, quote) + one.sound + quote;
            const auto problems = problems_with(one, value);
            CHECK(one_has(problems, "--" + std::string(one.flag) + ": "));
            CHECK(one_has(problems, value));
        }
    }
}

TEST_CASE("slips: a value that has no meaning is told, with what would be right") {
    for (const Typed& one : typed) {
        CAPTURE(std::string(one.flag));
        for (const char* value : {"", "1.5", "?", "=", "1,5", "12 34"}) {
            CAPTURE(std::string(value));
            const bool is_sound =
                one.flag == std::string_view("cluster") && value == std::string_view("1.5");
            if (is_sound) continue;
            const auto problems = problems_with(one, value);
            REQUIRE_FALSE(problems.empty());
            CHECK(problems.front().starts_with("--" + std::string(one.flag) + ": "));
            CHECK((one_has(problems, "expected") || one_has(problems, "is not one of") ||
                   one_has(problems, "are whole numbers")));
        }
    }
}

TEST_CASE("slips: switches are on and off in letters of either case") {
    for (const char* on : {"ON", "True", "YES", "1"})
        CHECK(options_of<NodeOptions>(node_words({"--preempt=" + std::string(on)})).config.preempt);
    for (const char* off : {"OFF", "False", "No", "0"})
        CHECK_FALSE(
            options_of<NodeOptions>(node_words({"--preempt=" + std::string(off)})).config.preempt);
    CHECK(one_has(problems_of(node_words({"--preempt=maybe"})),
                  "--preempt: \"maybe\" is neither on nor off; expected on, off, true or false"));
}

TEST_CASE("slips: words have letters of either case") {
    const auto options =
        options_of<NodeOptions>(node_words({"--algorithm", "RING", "--profile", "Cloud",
                                            "--priority", "Never", "--hang-after", "OFF"}));
    CHECK(options.config.algorithm == protocol::Algorithm::ring);
    CHECK(options.profile == protocol::Profile::cloud);
    CHECK(options.config.priority.is_never());
    CHECK(options.hang_after == protocol::Duration{0});
}

TEST_CASE("slips: a text has no half of a foreign line end") {
    const Environment saved{{"HOME", "/home/someone"},
                            {"BULLRING_ADVERTISE", "db1:5432\r"},
                            {"BULLRING_DATA_DIR", "/var/lib/x\r"}};
    const auto options = options_of<NodeOptions>(node_words(), saved);
    CHECK(options.config.advertised == "db1:5432");
    CHECK(options.data_dir == "/var/lib/x");
}

TEST_CASE("slips: files of other systems") {
    const std::string mark = "\xEF\xBB\xBF";
    const std::string lines = "id = 2\r\npeers = [\"1=a:7100\",\r\n \"2=b:7100\"]\r\n";
    const TemporaryFile config(mark + lines);
    CHECK(options_of<NodeOptions>({"node", "--config", config.path()}).peers.size() == 2);

    const TemporaryFile peers(mark + "1=a:7100,\r\n2 = b:7100\r\n\t# none\r\n3=c:7100,\r\n");
    CHECK(options_of<NodeOptions>({"node", "--id", "2", "--peers", "@" + peers.path()})
              .peers.size() == 3);

    const TemporaryFile wide(std::string("\xFF\xFEi\0d\0", 6));
    for (const char* flag : {"--config", "--peers"}) {
        const std::string value = (flag == std::string_view("--peers") ? "@" : "") + wide.path();
        CHECK(one_has(problems_of({"node", "--id", "2", flag, value}),
                      "can't be read: it is UTF-16; expected UTF-8"));
    }
}

TEST_CASE("slips: the mark before a text is no part of it") {
    CHECK(without_mark("\xEF\xBB\xBFtext") == "text");
    CHECK(without_mark("text") == "text");
    CHECK(without_mark("\xEF\xBB") == "\xEF\xBB");
    CHECK(without_mark("").empty());
    CHECK(is_utf16("\xFE\xFF"));
    CHECK_FALSE(is_utf16("\xFE"));
}

namespace {

template <class Actions>
void check_actions(const char* subcommand) {
    const std::span<const Action> rows = find_subcommand(subcommand)->actions;
    for (const Action& action : rows) {
        CAPTURE(std::string(action.name));
        CHECK(protocol::named<Actions>(action.name).has_value());
    }
    CHECK(rows.size() == protocol::enumerators<Actions>().size());
}

}  // namespace

TEST_CASE("options: each action is an enumerator by its name, and each has one") {
    check_actions<KeyAction>("key");
    check_actions<CertAction>("cert");
    check_actions<MemberAction>("member");
    CHECK(std::count_if(subcommand_table().begin(), subcommand_table().end(),
                        [](const Subcommand& one) { return !one.actions.empty(); }) == 3);
}

}  // namespace bullring::options_slips_test
