// Which lines a node's steps leave in its trace.
#include "protocol/trace/trace_recorder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace bullring::protocol::trace_recorder_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr TraceTime now{Instant{1000, 2000}};

/// A recorder of node 3, and what it wrote.
struct Recording {
    TraceRecorder recorder{{3}, {0xAB}};
    std::string out;

    void event(const Event& event) { recorder.on_event(now, event, out); }
    void action(const Action& action) { recorder.on_action(now, action, out); }
    std::vector<Json> lines() const {
        std::vector<Json> found;
        std::size_t at = 0;
        while (at < out.size()) {
            const std::size_t end = out.find('\n', at);
            found.push_back(Json::parse(out.substr(at, end - at)));
            at = end + 1;
        }
        return found;
    }
};

Hello hello_from(std::uint64_t id, std::uint64_t session) {
    Hello hello;
    hello.id = {id};
    hello.incarnation = {0xCD};
    hello.session = {session};
    return hello;
}

}  // namespace

TEST_CASE("trace recorder: messages are counted for each session and direction") {
    Recording recording;
    recording.event(Dialled{{2}, {7}, {}});
    recording.action(Send{{7}, Hello{}});
    HelloAck ack;
    ack.incarnation = {0xEF};
    recording.event(Receive{{7}, ack});
    recording.action(Send{{7}, Heartbeat{}});
    recording.action(Send{{7}, Heartbeat{}});
    const std::vector<Json> lines = recording.lines();
    REQUIRE(lines.size() == 4);
    CHECK(lines[0]["index"] == 0);
    CHECK(lines[0]["peer"] == 2);
    CHECK(lines[0]["peer_incarnation"].is_null());
    CHECK(lines[1]["dir"] == "recv");
    CHECK(lines[1]["index"] == 0);
    CHECK(lines[2]["index"] == 1);
    CHECK(lines[2]["peer_incarnation"] == "00000000000000ef");
    CHECK(lines[3]["index"] == 2);
}

TEST_CASE("trace recorder: an accepted session bears the dialler's number") {
    Recording recording;
    recording.event(HelloReceived{{40}, hello_from(5, 9), {}});
    recording.action(Send{{40}, HelloAck{}});
    recording.event(Receive{{40}, Ok{1}});
    const std::vector<Json> lines = recording.lines();
    REQUIRE(lines.size() == 3);
    for (const Json& line : lines) {
        CHECK(line["session"] == 9);
        CHECK(line["peer"] == 5);
        CHECK(line["peer_incarnation"] == "00000000000000cd");
    }
    CHECK(lines[2]["index"] == 1);
}

TEST_CASE("trace recorder: a session that is over has no messages any more") {
    Recording recording;
    recording.event(Dialled{{2}, {7}, {}});
    recording.event(SessionEnded{{7}, SessionEnd::reset});
    recording.action(Send{{7}, Heartbeat{}});
    recording.event(HelloReceived{{40}, hello_from(5, 9), {}});
    recording.action(CloseSession{{40}});
    recording.event(Receive{{40}, Ok{1}});
    CHECK(recording.lines().size() == 1);
}

TEST_CASE("trace recorder: a lease is told when it changes, and only then") {
    Recording recording;
    recording.action(Publish{{9}, {5000, 6000}});
    recording.action(Publish{{9}, {5000, 6000}});
    recording.action(Publish{{9}, {5500, 6500}});
    recording.action(Publish{{}, long_ago});
    const std::vector<Json> lines = recording.lines();
    REQUIRE(lines.size() == 3);
    CHECK(lines[0]["until_ns"] == 5000);
    CHECK(lines[1]["until_ns"] == 5500);
    CHECK(lines[2]["epoch"] == 0);
    CHECK(!lines[2].contains("until_ns"));
}

TEST_CASE("trace recorder: a leadership without an end has none in the trace") {
    Recording recording;
    recording.action(Publish{{9}, never});
    CHECK(!recording.lines().at(0).contains("until_ns"));
}

TEST_CASE("trace recorder: what a node tells its users is in its trace") {
    Recording recording;
    recording.recorder.on_start(now, Config{}, recording.out);
    recording.action(PeerUp{{5}});
    recording.action(PeerDown{{5}, PeerDownReason::reset});
    recording.action(ElectionStarted{{8}, "no leader is known"});
    recording.action(RoleChanged{Role::candidate, {8}});
    recording.action(Elected{{8}, MemberSet(0b101)});
    recording.action(LeaderChanged{{3}, {8}, "where"});
    recording.action(Deposed{{8}, DeposedReason::preempted, {7, 8}});
    recording.action(Note{Note::Level::info, {}, "not in the trace"});
    recording.action(StartTask{{8}});
    recording.recorder.on_stop(now, "SIGTERM", recording.out);
    const std::vector<Json> lines = recording.lines();
    std::vector<std::string> kinds;
    for (const Json& line : lines) {
        CHECK(line["dir"] == "event");
        kinds.push_back(line["kind"]);
    }
    CHECK(kinds == std::vector<std::string>{"start", "peer_up", "peer_down", "election_started",
                                            "role", "elected", "leader", "deposed", "stop"});
    CHECK(lines[2]["reason"] == "reset");
    CHECK(lines[4]["role"] == "candidate");
    CHECK(lines[5]["grants"] == 2);
    CHECK(lines[7]["until_raw_ns"] == 8);
    CHECK(lines[8]["reason"] == "SIGTERM");
}

}  // namespace bullring::protocol::trace_recorder_test
