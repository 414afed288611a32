// The course of `resign`, against members that are scripted and a time that is up when the test
// says so: what it reports wherever it is cut off, and when it has no reason to go on.
#include "src/observe/resigning.hpp"

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include <asio/co_spawn.hpp>
#include <doctest/doctest.h>

#include "src/observe/observer_client.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// When g++ 12 inlines a coroutine's frame it takes Asio's pair of new and delete for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace bullring::resigning_test {
namespace {

using protocol::NodeId;

constexpr NodeId old_leader{3};
constexpr Agreement next_leader{{2}, {8}};

/// The outcome of one request to hand over.
struct Answer {
    enum class Kind { refused, lasting, done, silent, broken, unreachable };
    Kind kind = Kind::refused;
    std::string why;
    std::optional<Agreement> then;  // who leads from this answer on; without a value it stays
};

/// Three members. Each call is a step; at the step `cut_at` the time is up, and the call ends as
/// calls do that are cut off.
class ScriptedMembers final : public AskedCluster {
public:
    ScriptedMembers(std::deque<Answer> answers, std::size_t cut_at)
        : answers_(std::move(answers)), cut_at_(cut_at) {}

    const std::string& name() const override { return name_; }
    bool time_is_up() const override { return steps_ > cut_at_; }

    asio::awaitable<void> pause() override {
        step();
        co_return;
    }

    asio::awaitable<std::vector<MemberAnswer>> ask(Enough) override {
        std::vector<MemberAnswer> members;
        const bool cut = step();
        for (const NodeId id : {NodeId{1}, NodeId{2}, NodeId{3}}) {
            members.push_back({id, "", std::nullopt, "no answer in time", false});
            if (cut) continue;
            NodeAnswer& said = members.back().answer.emplace();
            said.id = id;
            said.role = id == leader.leader ? "leader" : "follower";
            said.leader = leader.leader;
            said.epoch = leader.epoch;
            said.lease_left_ms = 400;
            leader_told = true;
        }
        co_return members;
    }

    asio::awaitable<bool> request(NodeId, ObserverMessage) override {
        if (step()) co_return false;
        ++requests;
        REQUIRE_FALSE(answers_.empty());
        current_ = std::move(answers_.front());
        answers_.pop_front();
        if (current_.kind != Answer::Kind::unreachable) co_return true;
        take_effect();
        co_return false;
    }

    asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() override {
        if (step()) co_return tl::unexpected(LinkFailure{true, "no answer in time"});
        take_effect();
        switch (current_.kind) {
            case Answer::Kind::refused:
            case Answer::Kind::lasting:
                last_refusal = "node 3 does not hand over: " + current_.why;
                co_return ResignResult{false, current_.why, current_.kind == Answer::Kind::lasting};
            case Answer::Kind::done: handed_over = true; co_return ResignResult{true, "", false};
            case Answer::Kind::silent:
                co_return tl::unexpected(LinkFailure{true, "no answer in time"});
            case Answer::Kind::broken:
            case Answer::Kind::unreachable: break;
        }
        co_return tl::unexpected(LinkFailure{false, "the connection broke"});
    }

    Agreement leader{old_leader, {7}};
    bool leader_told = false;
    bool handed_over = false;
    std::string last_refusal;
    int requests = 0;

private:
    bool step() { return steps_++ >= cut_at_; }
    void take_effect() {
        if (current_.then) leader = *current_.then;
    }

    std::string name_ = "blue";
    std::deque<Answer> answers_;
    Answer current_;
    std::size_t cut_at_;
    std::size_t steps_ = 0;
};

constexpr std::size_t never = 1'000'000;

Outcome outcome_of(ScriptedMembers& members, NodeId successor = protocol::nobody) {
    Outcome outcome;
    const int status = run_observer(ObserverOptions{}, [&](ObserverLoop&) -> asio::awaitable<int> {
        outcome = co_await resign_leader(members, successor, protocol::seconds(5));
        co_return 0;
    });
    REQUIRE(status == 0);
    return outcome;
}

/// By what the members have told, and nothing else.
Outcome expected_when_cut(const ScriptedMembers& members) {
    if (members.handed_over) return {0, ""};
    if (!members.last_refusal.empty()) return {1, members.last_refusal};
    if (!members.leader_told) return {1, "no leader was found within 5s"};
    return {1, "no other leader is in place within 5s after node 3 was asked to hand over"};
}

const Outcome succeeded{0, "node 2 leads, epoch 8"};

}  // namespace

TEST_CASE("resign: wherever the time is up, the last reason that is known is told") {
    using Kind = Answer::Kind;
    const std::vector<std::deque<Answer>> scripts{{{Kind::refused, "first", {}},
                                                   {Kind::refused, "second", {}},
                                                   {Kind::silent, "", next_leader}},
                                                  {{Kind::refused, "first", {}},
                                                   {Kind::broken, "", {}},
                                                   {Kind::unreachable, "", {}},
                                                   {Kind::done, "", next_leader}},
                                                  {{Kind::broken, "", {}},
                                                   {Kind::unreachable, "", {}},
                                                   {Kind::refused, "", {}},
                                                   {Kind::broken, "", next_leader}},
                                                  {{Kind::unreachable, "", next_leader}},
                                                  {{Kind::done, "", next_leader}}};
    for (std::size_t script = 0; script < scripts.size(); ++script) {
        std::size_t cut_at = 0;
        for (bool cut = true; cut; ++cut_at) {
            CAPTURE(script);
            CAPTURE(cut_at);
            ScriptedMembers members(scripts[script], cut_at);
            const Outcome outcome = outcome_of(members);
            cut = members.time_is_up();
            Outcome expected = cut ? expected_when_cut(members) : succeeded;
            if (expected.text.ends_with(": ")) expected.text += "no reason given";
            CHECK(outcome.text == expected.text);
            CHECK(outcome.exit_status == expected.exit_status);
        }
        CHECK(cut_at >= 4);
    }
}

TEST_CASE("resign: a request that will always be refused ends it at once") {
    ScriptedMembers members({{Answer::Kind::refused, "not connected", {}},
                             {Answer::Kind::lasting, "node 2 never leads", {}}},
                            never);
    CHECK(outcome_of(members, {2}) == Outcome{1, "node 3 does not hand over: node 2 never leads"});
    CHECK(members.requests == 2);
}

TEST_CASE("resign: a leader that leads again because nobody took over is no other leader") {
    const Agreement again{old_leader, {8}};
    for (const auto kind : {Answer::Kind::silent, Answer::Kind::broken, Answer::Kind::unreachable,
                            Answer::Kind::refused}) {
        CAPTURE(static_cast<int>(kind));
        ScriptedMembers members({{kind, "no other node took over", again}}, 20);
        const Outcome outcome = outcome_of(members);
        CHECK(outcome == expected_when_cut(members));
        CHECK(outcome.exit_status == 1);
        CHECK(members.requests == 1);
    }
}

TEST_CASE("resign: the member that was named leads already") {
    ScriptedMembers members({}, never);
    CHECK(outcome_of(members, old_leader) == Outcome{0, "node 3 leads, epoch 7"});
    CHECK(members.requests == 0);
}

TEST_CASE("resign: with a name, another that took over is asked next") {
    ScriptedMembers members({{Answer::Kind::refused, "node 1 is not connected", next_leader},
                             {Answer::Kind::done, "", Agreement{{1}, {9}}}},
                            never);
    CHECK(outcome_of(members, {1}) == Outcome{0, "node 1 leads, epoch 9"});
    CHECK(members.requests == 2);
}

TEST_CASE("resign: with a name, only that one is a success, whenever another takes over") {
    for (const auto kind : {Answer::Kind::refused, Answer::Kind::silent, Answer::Kind::broken,
                            Answer::Kind::unreachable, Answer::Kind::done}) {
        CAPTURE(static_cast<int>(kind));
        ScriptedMembers members(
            {{kind, "busy", next_leader}, {Answer::Kind::done, "", Agreement{{1}, {9}}}}, never);
        CHECK(outcome_of(members, {1}) == Outcome{0, "node 1 leads, epoch 9"});
        CHECK(members.requests == 2);
    }
}

TEST_CASE("resign: what an earlier leader has done is no success of the last request") {
    ScriptedMembers members({{Answer::Kind::done, "", next_leader},
                             {Answer::Kind::refused, "node 1 is not connected", {}},
                             {Answer::Kind::refused, "node 1 is not connected", {}},
                             {Answer::Kind::refused, "node 1 is not connected", {}}},
                            12);
    const Outcome outcome = outcome_of(members, {1});
    CHECK(outcome.exit_status == 1);
    CHECK(outcome.text == "node 2 does not hand over: node 1 is not connected");
}

}  // namespace bullring::resigning_test
