#include "src/node/report/events_file.hpp"

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bullring/version.hpp"
#include "src/node/report/background_writer.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::events_file_test {

using bullring::test::TemporaryDirectory;

namespace {

protocol::Config config() {
    protocol::Config result;
    result.self = {3};
    result.members = protocol::Membership(std::vector<protocol::NodeId>{{1}, {3}, {9}});
    return result;
}

constexpr EventTime at{123'456'789, 1'764'633'600'000'001'000};
const std::string head = R"({"ts_ns":123456789,"time":"2025-12-02T00:00:00.000001Z","node":3,)";

std::string line_of(const protocol::Action& action) {
    const protocol::Config ours = config();
    return EventLines(ours).of(at, action);
}

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("events: each line has the keys of the interface in their order") {
    const protocol::Config ours = config();
    EventLines lines(ours);
    CHECK(lines.started(at, 42, "b-1") ==
          head + R"("event":"started","algorithm":"bully","quorum":"majority","peers":[1,3,9],)" +
              R"("version":")" + std::string(version) +
              "\",\"pid\":42,\"boot\":\"b-1\",\"cluster\":\"bullring\",\"cluster_id\":null}\n");
    CHECK(
        lines.started(at, 42, "b-1", {0x5F0C}).ends_with("\"cluster_id\":\"0000000000005f0c\"}\n"));
    CHECK(lines.cluster(at, {0x5F0C}) ==
          head + R"("event":"cluster","cluster_id":"0000000000005f0c"})" + "\n");
    CHECK(lines.stopped(at, "SIGTERM") == head + R"("event":"stopped","reason":"SIGTERM"})" + "\n");
    CHECK(line_of(protocol::PeerUp{{9}}) == head + R"("event":"peer_up","peer":9})" + "\n");
    CHECK(line_of(protocol::PeerDown{{9}, protocol::PeerDownReason::reset}) ==
          head + R"("event":"peer_down","peer":9,"reason":"reset"})" + "\n");
    CHECK(line_of(protocol::ElectionStarted{{7}, "no leader is known"}) ==
          head + R"("event":"election_started","epoch":7,"reason":"no leader is known"})" + "\n");
    CHECK(lines.leader(at, {{}, {{9}, {7}, "db:5432"}, LeaderEnd::died}) ==
          head + R"("event":"leader","leader":9,"epoch":7,"advertised":"db:5432",)" +
              "\"before\":\"died\",\"gap_ms\":null}\n");
    const protocol::LeaderChanged lost{
        {}, {7}, "", false, protocol::Instant{at.ts_ns - 2'500'000, 0}};
    CHECK(lines.leader(at, {{}, lost}) ==
          head + R"("event":"leader","leader":null,"epoch":7,"advertised":"","before":null,)" +
              "\"gap_ms\":2.5}\n");
    CHECK(line_of(protocol::Elected{{8}, protocol::MemberSet(0b101)}) ==
          head + R"("event":"elected","epoch":8,"grants":[1,9]})" + "\n");
    CHECK(line_of(protocol::Deposed{{8}, protocol::DeposedReason::lease_expired, {55, 66}}) ==
          head + R"("event":"deposed","epoch":8,"reason":"lease_expired","held_until_ns":55})" +
              "\n");
    CHECK(line_of(protocol::StartTask{{8}}).empty());
}

TEST_CASE("events: a changed list of members is told, and grants are read by the slots of now") {
    const protocol::Config ours = config();
    EventLines lines(ours);
    const protocol::Membership grown(
        {{7}, 2},
        {{{1}, 0, true, "a:1"}, {{3}, 1, true, ""}, {{9}, 2, true, ""}, {{2}, 3, false, ""}},
        {{1}, {3}});
    CHECK(lines.of(at, protocol::MembersChanged{ours.members}).empty());
    CHECK(lines.of(at, protocol::DealWith{grown}).empty());
    CHECK(lines.of(at, protocol::MembersChanged{grown}) ==
          head +
              R"("event":"members","tag":"7.2","members":[{"id":1,"address":"a:1","vote":true},)" +
              R"({"id":2,"address":"","vote":false},{"id":3,"address":"","vote":true},)" +
              R"({"id":9,"address":"","vote":true}]})" + "\n");
    CHECK(lines.of(at, protocol::Elected{{8}, protocol::MemberSet(0b1001)}) ==
          head + R"("event":"elected","epoch":8,"grants":[1,2]})" + "\n");
}

TEST_CASE("events: an advertised string of any bytes leaves one line of JSON") {
    const protocol::Config ours = config();
    const std::string line =
        EventLines(ours).leader(at, {{}, {{9}, {7}, "a\"\n\xff\x01"}, LeaderEnd::first});
    CHECK(line.find('\n') == line.size() - 1);
    CHECK(line.find(R"(a\"\n)") != std::string::npos);
}

TEST_CASE("background writer: lines arrive in order, and reopening follows the file's name") {
    const TemporaryDirectory place;
    {
        BackgroundWriter writer;
        const auto stream = writer.open(place / "events", "events file").value();
        writer.write(stream, "one\n");
        while (content(place / "events").empty()) std::this_thread::yield();
        std::filesystem::rename(place / "events", place / "old");
        writer.reopen();
        while (!std::filesystem::exists(place / "events")) std::this_thread::yield();
        writer.write(stream, "two\n");
        writer.write(stream, "three\n");
    }
    CHECK(content(place / "old") == "one\n");
    CHECK(content(place / "events") == "two\nthree\n");
}

TEST_CASE("background writer: a file that cannot be opened is an error that names it") {
    const TemporaryDirectory place;
    BackgroundWriter writer;
    const auto stream = writer.open(place / "none/events", "events file");
    REQUIRE_FALSE(stream.has_value());
    CHECK(stream.error().find(place / "none/events") != std::string::npos);
}

TEST_CASE("background writer: what could not be written goes on by itself, with what is missing") {
    const TemporaryDirectory place;
    const std::string path = place / "events";
    std::filesystem::create_symlink("/dev/full", path);
    BackgroundWriter writer;
    const auto stream = writer.open(
        path, "events file", [](std::uint64_t lost) { return lost_events_line(at, {3}, lost); });
    REQUIRE(stream.has_value());
    CHECK(writer.stream(*stream).problem().empty());
    for (int i = 0; i < 3; ++i) writer.write(*stream, "full\n");
    while (writer.stream(*stream).lost() < 3) std::this_thread::yield();
    CHECK(writer.stream(*stream).problem() == "No space left on device");
    std::filesystem::remove(path);
    while (writer.stream(*stream).is_interrupted()) std::this_thread::yield();
    writer.write(*stream, "four\n");
    const std::string told = head + R"("event":"lost","count":3})" + "\n";
    while (content(path).size() < told.size() + 5) std::this_thread::yield();
    CHECK(content(path) == told + "four\n");
    CHECK(writer.stream(*stream).lost() == 3);
}

TEST_CASE("background writer: a reader that goes on reading is told what it has missed") {
    const TemporaryDirectory place;
    const std::string path = place / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(reader >= 0);
    BackgroundWriter writer;
    const auto stream = writer.open(
        path, "events file", [](std::uint64_t lost) { return std::to_string(lost) + " lost\n"; });
    REQUIRE(stream.has_value());
    const std::string line = std::string(1023, 'x') + "\n";
    constexpr std::size_t lines = 4096;  // four times what the queue holds
    for (std::size_t i = 0; i < lines; ++i) writer.write(*stream, line);
    REQUIRE(writer.stream(*stream).lost() > 0);
    std::string text;
    std::array<char, 65536> bytes{};
    while (text.find(" lost\n") == std::string::npos) {
        const ssize_t count = ::read(reader, bytes.data(), bytes.size());
        if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    ::close(reader);
    // Whole lines, one that was cut off, and what is missing.
    std::size_t whole = 0;
    while (text.compare(whole * line.size(), line.size(), line) == 0) ++whole;
    const std::size_t told = text.rfind('\n', text.size() - 2) + 1;
    CHECK(text.substr(told) == std::to_string(lines - whole) + " lost\n");
    CHECK(writer.stream(*stream).lost() == lines - whole);
}

TEST_CASE("background writer: a reader that stops reading never holds up who writes, nor the end") {
    const TemporaryDirectory place;
    const std::string path = place / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(reader >= 0);
    const auto begin = std::chrono::steady_clock::now();
    {
        BackgroundWriter writer;
        const auto stream = writer.open(path, "events file").value();
        // Four times what the queue holds.
        for (int i = 0; i < 4096; ++i) writer.write(stream, std::string(1023, 'x') + "\n");
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    ::close(reader);
}

TEST_CASE("background writer: a FIFO is written while somebody reads it, and waits for nobody") {
    const TemporaryDirectory place;
    const std::string path = place / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    BackgroundWriter writer;
    const auto stream = writer.open(path, "events file").value();
    writer.write(stream, "nobody reads this\n");
    for (int turn = 0; turn < 3; ++turn) {
        CAPTURE(turn);
        const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        REQUIRE(reader >= 0);
        std::string text;
        while (text.find("read\n") == std::string::npos || text.back() != '\n') {
            writer.write(stream, "read\n");
            char bytes[64];
            const ssize_t count = ::read(reader, bytes, sizeof bytes);
            if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
        }
        // A line that was written before this reader came may still have been under way, as a whole
        // line.
        const std::string first = text.substr(0, text.find('\n'));
        CHECK_MESSAGE((first == "read" || first == "lost" || first == "nobody reads this"), first);
        ::close(reader);
        writer.write(stream, "lost\n");
        if (turn == 1) writer.reopen();
    }
}

}  // namespace bullring::events_file_test
