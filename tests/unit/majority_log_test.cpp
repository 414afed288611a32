// Tests what the log says of a majority that is lost and comes back.
#include "src/node/report/majority_log.hpp"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/log/logging.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::majority_log_test {

TEST_SUITE_BEGIN("realtime");

using protocol::milliseconds;
using protocol::seconds;
using test::NodeFixture;

namespace {

/// Node 1 of three, its peers, and the lines that its log gets.
class Told {
public:
    explicit Told(std::vector<std::uint64_t> peers) : node_(test::config_for(1, {1, 2, 3})) {
        node_.recover();
        for (const std::uint64_t peer : peers) node_.connect(peer);
        look();
    }
    void lose(std::uint64_t peer) {
        node_.lose(peer);
        look();
    }
    void connect(std::uint64_t peer) {
        node_.connect(peer);
        look();
    }
    void pass(protocol::Duration duration) {
        const protocol::Instant end = node_.now() + duration;
        while (!protocol::due(node_.now(), end)) {
            node_.run(node_.timing().heartbeat);
            look();
        }
    }
    using Lines = std::vector<std::pair<LogLevel, std::string>>;
    Lines lines() { return std::exchange(lines_, {}); }

private:
    void look() {
        start_logging_to(LogLevel::info, [this](LogLevel level, std::string_view line) {
            lines_.emplace_back(level, line);
        });
        if (log_.note(node_.now(), node_.node().parts())) log_.tell();
        stop_logging();
    }

    NodeFixture node_;
    MajorityLog log_;
    Lines lines_;
};

/// With limits of its own.
template <class Scene>
void play(const Scene& scene) {
    std::thread(scene).join();
}

bool says(const std::pair<LogLevel, std::string>& line, LogLevel level, const std::string& words) {
    return line.first == level && line.second.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("majority: its loss is one warning, with who is missing, and its return one line") {
    play([] {
        Told told({2, 3});
        told.lose(2);
        told.pass(seconds(1));
        CHECK(told.lines().empty());  // two of three are a majority
        told.lose(3);
        told.pass(seconds(30));
        const Told::Lines lost = told.lines();
        REQUIRE(lost.size() == 1);
        CHECK(says(lost[0], LogLevel::warn, "hears 1 of 3 voters, and not 2, 3;"));
        CHECK(says(lost[0], LogLevel::warn, "until it hears 2"));
        told.connect(2);
        told.pass(seconds(1));
        const Told::Lines back = told.lines();
        REQUIRE(back.size() == 1);
        CHECK(says(back[0], LogLevel::info, "after 30s without: hears 2 of 3 voters"));
    });
}

TEST_CASE("majority: one that is back before a peer would be suspected was not lost") {
    play([] {
        Told told({2});
        told.lose(2);
        told.pass(milliseconds(150));
        told.connect(2);
        told.pass(seconds(5));
        CHECK(told.lines().empty());
    });
}

TEST_CASE("majority: one that comes and goes is two lines, and not two each time") {
    play([] {
        Told told({2});
        for (int losses = 0; losses < 20; ++losses) {
            told.lose(2);
            told.pass(milliseconds(250));
            told.connect(2);
            told.pass(milliseconds(250));
        }
        CHECK(told.lines().size() == 2);
    });
}

TEST_CASE("majority: a start without one has lost none") {
    play([] {
        Told told({});
        told.pass(seconds(30));
        CHECK(told.lines().empty());
    });
}

TEST_SUITE_END();

}  // namespace bullring::majority_log_test
