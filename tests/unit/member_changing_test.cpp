// The course of `member add` and its like, against a leader that is scripted and a time that is up
// when the test says so.
#include "src/observe/member_changing.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <doctest/doctest.h>

#include "src/observe/observer_client.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// When g++ 12 inlines a coroutine's frame it takes Asio's pair of new and delete for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace bullring::member_changing_test {
namespace {

using protocol::MemberChange;
using protocol::NodeId;
using What = MemberChange::What;

const MemberChange add4{What::add, {4}, "d:7100"};
const MemberChange promote4{What::promote, {4}, ""};

struct Answer {
    enum class Kind { done, refused, lasting, silent, broken, unreachable, stranger };
    Kind kind = Kind::done;
    std::string why;
};
using Kind = Answer::Kind;

/// 1, 2 and 3. The leader gives these answers to changes, one a request, and hands over at once.
class ScriptedCluster final : public AskedCluster {
public:
    explicit ScriptedCluster(std::deque<Answer> answers) : answers_(std::move(answers)) {}

    const std::string& name() const override { return name_; }
    bool time_is_up() const override { return steps_ > 30 || answers_.empty(); }

    asio::awaitable<void> pause() override {
        ++steps_;
        co_return;
    }

    asio::awaitable<std::vector<MemberAnswer>> ask(Enough) override {
        ++steps_;
        std::vector<MemberAnswer> members;
        for (const NodeId id : {NodeId{1}, NodeId{2}, NodeId{3}}) {
            if (only_the_old_one && id != NodeId{3}) continue;
            members.push_back({id, "", std::nullopt, "no answer in time", false});
            if (!leader) continue;
            NodeAnswer& said = members.back().answer.emplace();
            said.id = id;
            said.role = id == leader ? "leader" : "follower";
            said.leader = leader;
            said.epoch = epoch;
            said.lease_left_ms = 400;
        }
        co_return members;
    }

    asio::awaitable<bool> request(NodeId whom, ObserverMessage what) override {
        ++steps_;
        CHECK(whom == leader);
        if (const auto* change = std::get_if<ChangeMembers>(&what)) {
            CHECK(change->cluster == "blue");
            CHECK_FALSE(resigns);
            asked.push_back(change->change);
            current_ = std::move(answers_.front());
            answers_.pop_front();
            co_return current_.kind != Kind::unreachable;
        }
        CHECK(std::get<Observe>(what) == Observe{"blue", ObserveWhat::resign, protocol::nobody});
        resigns = true;
        co_return true;
    }

    asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() override {
        ++steps_;
        if (std::exchange(resigns, false)) {
            ++handovers;
            if (!hands_over) co_return ResignResult{false, "nobody else ever leads", true};
            leader = {2};
            epoch = {epoch.value + 1};
            co_return ResignResult{true, "", false};
        }
        switch (current_.kind) {
            case Kind::done: co_return ChangeResult{true, "", false};
            case Kind::refused: co_return ChangeResult{false, current_.why, false};
            case Kind::lasting: co_return ChangeResult{false, current_.why, true};
            case Kind::stranger: co_return ObserverRefused{"cluster", "green", "blue"};
            case Kind::broken: co_return tl::unexpected(LinkFailure{false, "end of file"});
            case Kind::silent:
            case Kind::unreachable: break;
        }
        co_return tl::unexpected(LinkFailure{true, "no answer in time"});
    }

    NodeId leader{3};
    protocol::Epoch epoch{7};
    std::vector<MemberChange> asked;
    bool resigns = false;
    bool hands_over = true;
    bool only_the_old_one = false;
    int handovers = 0;

private:
    std::string name_ = "blue";
    std::deque<Answer> answers_;
    Answer current_;
    int steps_ = 0;
};

Outcome outcome_of(ScriptedCluster& cluster, std::vector<MemberChange> changes) {
    Outcome outcome;
    const int status = run_observer(ObserverOptions{}, [&](ObserverLoop&) -> asio::awaitable<int> {
        outcome = co_await change_members(cluster, changes, protocol::seconds(10));
        co_return 0;
    });
    REQUIRE(status == 0);
    return outcome;
}

const Answer last{Kind::lasting, "the time was not up"};

}  // namespace

TEST_CASE("member: the leader is asked, and again while it refuses for now or is gone") {
    ScriptedCluster cluster({{Kind::refused, "a change is under way"},
                             {Kind::unreachable, ""},
                             {Kind::broken, ""},
                             {Kind::done, ""},
                             last});
    CHECK(outcome_of(cluster, {add4}) == Outcome{0, "node 4 is a member, at d:7100"});
    CHECK(cluster.asked == std::vector(4, add4));
    CHECK(cluster.handovers == 0);
}

TEST_CASE("member: a refusal that no waiting helps against ends it") {
    ScriptedCluster cluster({{Kind::lasting, "node 3 has the address d:7100"}, last});
    CHECK(outcome_of(cluster, {add4}) == Outcome{1, "node 3 has the address d:7100"});
    ScriptedCluster other({{Kind::stranger, ""}, last});
    CHECK(outcome_of(other, {add4}) ==
          Outcome{1, "node 3: it refuses: cluster is \"green\" there, \"blue\" here"});
}

TEST_CASE("member: a member that is to vote is added first, and what was done is told") {
    ScriptedCluster cluster({{Kind::done, ""}, {Kind::done, ""}, last});
    CHECK(outcome_of(cluster, {add4, promote4}) ==
          Outcome{0, "node 4 is a member, at d:7100, node 4 has a vote"});
    ScriptedCluster half(
        {{Kind::done, ""}, {Kind::refused, "node 4 is not connected"}, {Kind::broken, ""}});
    CHECK(outcome_of(half, {add4, promote4}) ==
          Outcome{1, "node 4 is a member, at d:7100; but node 4 is not connected; waited 10s"});
}

TEST_CASE("member: when the time is up the last thing that is known is told") {
    ScriptedCluster silent({{Kind::silent, ""}, last});
    CHECK(
        outcome_of(silent, {add4}) ==
        Outcome{1,
                "node 3 has not answered within 10s; the change may still be made: bullring member "
                "list shows it"});
    ScriptedCluster nobody({last});
    nobody.leader = protocol::nobody;
    CHECK(outcome_of(nobody, {add4}) == Outcome{1, "no leader was found within 10s"});
}

TEST_CASE("member: a leader that is to be removed hands over first, and the next one removes it") {
    ScriptedCluster cluster({{Kind::done, ""}, last});
    CHECK(outcome_of(cluster, {{What::remove, {3}, ""}}) ==
          Outcome{0, "node 3 is no member, and stays out until it is added again"});
    CHECK(cluster.handovers == 1);
    CHECK(cluster.leader == NodeId{2});
    // By its local socket nobody else can be asked.
    ScriptedCluster local({last});
    local.only_the_old_one = true;
    CHECK(
        outcome_of(local, {{What::remove, {3}, ""}}) ==
        Outcome{1,
                "node 3 has handed over and is still a member: its successor was not found within "
                "10s"});
    CHECK(local.asked.empty());
    ScriptedCluster alone({last});
    alone.hands_over = false;
    CHECK(outcome_of(alone, {{What::remove, {3}, ""}}) ==
          Outcome{1,
                  "node 3 leads and is not removed: node 3 does not hand over: nobody else ever "
                  "leads"});
}

}  // namespace bullring::member_changing_test
