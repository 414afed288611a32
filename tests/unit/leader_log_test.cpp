// Tests who led when and how each went: what a change is counted, told and shown by.
#include "src/node/leaders/leader_log.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::leader_log_test {
namespace {

using protocol::Action;
using protocol::Deposed;
using protocol::DeposedReason;
using protocol::Event;
using protocol::Instant;
using protocol::LeaderChanged;
using protocol::milliseconds;
using protocol::NodeId;
using protocol::PeerDown;
using protocol::PeerDownReason;
using protocol::PeerUp;
using protocol::Receive;
using protocol::Resign;
using protocol::Wake;

constexpr Instant start{1'000'000'000, 2'000'000'000};
const Action lost = LeaderChanged{{}, {7}, ""};
const Event resigns = Receive{{1}, Resign{{7}, {}}};

Action follows(std::uint64_t id, std::uint64_t epoch = 7) {
    return LeaderChanged{{id}, {epoch}, ""};
}

/// A node that has followed node 2 in epoch 7 since its start.
struct Follower {
    Follower() { at(0, {follows(2)}); }
    std::vector<LeaderTurn> at(std::int64_t ms, const std::vector<Action>& actions,
                               const Event& event = Wake{}) {
        return log.add(start + milliseconds(ms), event, actions);
    }
    /// The next leader's first turn.
    LeaderTurn next(const Action& change = follows(1, 8)) { return at(100, {change}).at(0); }

    LeaderLog log{start};
};

std::string before(const LeaderTurn& turn) { return turn.before ? name(*turn.before) : "same"; }

}  // namespace

TEST_CASE("leader log: whoever led and whoever followed tell one reason") {
    struct Way {
        std::vector<Action> actions;
        Event event;
        const char* loss;
        const char* before;
    };
    std::vector<Way> ways{
        {{lost}, Wake{}, "it leads no more", "lease_expired"},
        {{lost}, resigns, "it has resigned", "resigned"},
        {{PeerDown{{2}, PeerDownReason::timeout}, lost},
         Wake{},
         "nothing is heard of it",
         "lease_expired"},
        {{PeerDown{{2}, PeerDownReason::reset}, lost},
         Wake{},
         "nothing is heard of it",
         "lease_expired"},
        {{PeerDown{{2}, PeerDownReason::eof}, lost}, Wake{}, "it has died", "died"},
        {{PeerDown{{3}, PeerDownReason::eof}, lost}, Wake{}, "it leads no more", "lease_expired"},
        {{Deposed{{7}, DeposedReason::lease_expired, {}}, lost},
         Wake{},
         "nothing is heard of it",
         "lease_expired"},
        {{Deposed{{7}, DeposedReason::higher_rank, {}}, lost},
         Wake{},
         "another one leads",
         "replaced"},
    };
    for (const DeposedReason why :
         {DeposedReason::resigned, DeposedReason::preempted, DeposedReason::stalled,
          DeposedReason::unhealthy, DeposedReason::task_ended, DeposedReason::task_failed,
          DeposedReason::stopped})
        ways.push_back({{Deposed{{7}, why, {}}, lost}, Wake{}, "it has resigned", "resigned"});
    for (const Way& way : ways) {
        CAPTURE(way.loss);
        Follower node;
        const auto turns = node.at(1, way.actions, way.event);
        REQUIRE(turns.size() == 1);
        CHECK(std::string(turns[0].loss) == way.loss);
        CHECK(before(turns[0]) == "same");  // of a loss nothing is told
        CHECK(before(node.next()) == way.before);
    }
}

TEST_CASE("leader log: the first has none before it, and one that comes too early replaces") {
    Follower node;
    LeaderLog anew(start);
    CHECK(before(anew.add(start, Wake{}, {follows(2)}).at(0)) == "first");
    CHECK(before(node.next()) == "replaced");
    CHECK(before(node.next(follows(1, 9))) == "replaced");  // it was elected again
}

TEST_CASE("leader log: a leader that comes into sight again has led on, and nothing has changed") {
    Follower node;
    node.at(10, {PeerDown{{2}, PeerDownReason::timeout}, lost});
    CHECK(before(node.next(follows(2))) == "same");
    CHECK(before(node.next(follows(2, 8))) == "replaced");
}

TEST_CASE("leader log: what is learned of an end counts until the next one leads") {
    Follower node;
    SUBCASE("who steps down first and resigns when its task has ended has resigned") {
        node.at(1, {lost});
        node.at(2, {}, resigns);
        CHECK(before(node.next()) == "resigned");
    }
    SUBCASE("who was silent first and is known to have ended then has died") {
        node.at(1, {PeerDown{{2}, PeerDownReason::timeout}, lost});
        CHECK(before(node.next(LeaderChanged{{1}, {8}, "", true})) == "died");
    }
    SUBCASE("what it has said itself counts more") {
        node.at(1, {lost}, resigns);
        CHECK(before(node.next(LeaderChanged{{1}, {8}, "", true})) == "resigned");
    }
    SUBCASE("a candidate of the leader's epoch that resigns is not the leader") {
        node.at(1, {}, resigns);
        node.at(2, {PeerDown{{2}, PeerDownReason::eof}, lost});
        CHECK(before(node.next()) == "died");
    }
    SUBCASE("a resignation of an earlier leadership is not its reason") {
        node.at(1, {}, Receive{{1}, Resign{{6}, {}}});
        node.at(2, {lost});
        CHECK(before(node.next()) == "lease_expired");
    }
    SUBCASE("nor is the end of a connection that has been replaced") {
        node.at(1, {PeerDown{{2}, PeerDownReason::eof}});
        node.at(2, {PeerUp{{2}}, lost});
        CHECK(before(node.next()) == "lease_expired");
    }
}

TEST_CASE("leader log: a gap begins with the last sign of life, and time without counts once") {
    const auto change = [](std::uint64_t id, std::int64_t unled_since_ms, std::uint64_t epoch) {
        return LeaderChanged{{id}, {epoch}, "", false, start + milliseconds(unled_since_ms)};
    };
    const auto without = [](const LeaderTurn& turn) {
        return protocol::elapsed(turn.unled_since, turn.at);
    };
    Follower node;
    const LeaderTurn loss = node.at(12, {change(0, 10, 7)}).at(0);
    CHECK(without(loss) == milliseconds(2));
    CHECK_FALSE(loss.gap());
    // Somebody had not heard of its end.
    CHECK(without(node.at(14, {change(2, 10, 7)}).at(0)) == milliseconds(4));
    const LeaderTurn next = node.at(17, {change(1, 10, 8)}).at(0);
    CHECK(next.gap() == milliseconds(7));
    CHECK(without(next) == milliseconds(3));
    CHECK_FALSE(node.next().gap());  // it is not known
}

TEST_CASE("leader log: a step may have more than one turn") {
    Follower node;
    const auto turns = node.at(5, {lost, PeerDown{{3}, PeerDownReason::eof}, follows(1, 8)});
    REQUIRE(turns.size() == 2);
    CHECK(turns[0].what.leader == protocol::nobody);
    CHECK(turns[1].what.leader == NodeId{1});
    CHECK(node.at(6, {}).empty());
}

}  // namespace bullring::leader_log_test
