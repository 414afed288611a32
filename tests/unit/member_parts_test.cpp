// The parts of a member, each alone: gate, election timer, tenure, and what was reported last.
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "protocol/peers/heartbeat_clock.hpp"
#include "protocol/report/reported_leader.hpp"
#include "protocol/tenure/election_timer.hpp"
#include "protocol/tenure/gate.hpp"
#include "protocol/tenure/tenure.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::member_parts_test {
namespace {

using namespace test;

constexpr Instant at(std::int64_t ms) { return Instant{} + milliseconds(ms); }

template <class Part>
Duration wake_of(const Part& part, Instant now) {
    WakeTime wake(now);
    part.collect_wakes(wake);
    return wake.left();
}

TEST_CASE("gate: each reason alone closes it") {
    const Gate open;
    CHECK(open.open(at(0)));

    Gate ill = open;
    ill.falls_ill();
    CHECK_FALSE(ill.open(at(0)));
    Gate unwilling = open;
    unwilling.set_willing(false);
    CHECK_FALSE(unwilling.open(at(0)));
    Gate stopping = open;
    stopping.stop();
    CHECK_FALSE(stopping.open(at(0)));
    Gate resigned = open;
    resigned.stand_back_until(at(5));
    CHECK_FALSE(resigned.open(at(4)));
    CHECK(resigned.open(at(5)));
    resigned.stand_back_until(at(50));
    resigned.end_standing_back();
    CHECK(resigned.open(at(6)));
}

TEST_CASE("gate: after bad health it opens when the probation is over, or is ended") {
    Gate gate;
    gate.falls_ill();
    CHECK_FALSE(gate.on_probation(at(0)));
    gate.recovers(at(0), milliseconds(100));
    CHECK(gate.on_probation(at(99)));
    CHECK_FALSE(gate.open(at(99)));
    CHECK(wake_of(gate, at(40)) == milliseconds(60));
    CHECK(gate.open(at(100)));
    CHECK(gate.probation_left(at(99)) == milliseconds(1));
    gate.end_probation(at(7));
    CHECK(gate.open(at(7)));
}

TEST_CASE("gate: a reservation is for its successor alone, and ends") {
    Gate gate;
    gate.reserve({3}, at(10));
    CHECK(gate.reserved_for_other(at(9), {2}));
    CHECK_FALSE(gate.reserved_for_other(at(9), {3}));
    CHECK_FALSE(gate.reserved_for_other(at(10), {2}));
    CHECK(wake_of(gate, at(4)) == milliseconds(6));
}

TEST_CASE("gate: modesty doubles while it is called for again soon, and not afterwards") {
    Timing timing;
    timing.hand_over_hold_off = seconds(60);
    timing.hand_over_hold_off_max = seconds(150);
    Gate gate;
    gate.be_modest(at(0), timing);
    CHECK(gate.modest(at(59'999)));
    CHECK_FALSE(gate.modest(at(60'000)));
    gate.be_modest(at(60'000), timing);
    CHECK(gate.modest(at(179'999)));
    gate.be_modest(at(180'000), timing);
    CHECK(gate.modest(at(329'999)));
    CHECK_FALSE(gate.modest(at(330'000)));
    gate.be_modest(at(480'000), timing);
    CHECK_FALSE(gate.modest(at(540'000)));
}

TEST_CASE("election timer: only the loss of a leader staggers the start") {
    ElectionTimer timer;
    CHECK_FALSE(timer.leader_lost(false));
    CHECK_FALSE(timer.leader_ever_known());
    timer.note_leader(true, false);
    CHECK(timer.leader_lost(false));
    CHECK_FALSE(timer.leader_lost(true));
    timer.on_leader_lost(at(3));
    timer.note_leader(false, false);
    CHECK_FALSE(timer.leader_lost(false));
    CHECK(timer.leader_ever_known());
    timer.start_within(milliseconds(10));
    CHECK_FALSE(timer.start_due(at(12)));
    CHECK(wake_of(timer, at(11)) == milliseconds(2));
    CHECK(timer.start_due(at(13)));
}

TEST_CASE(
    "election timer: a stagger that is not needed any more is not waited for, and none is added") {
    ElectionTimer timer;
    timer.note_leader(true, false);
    timer.on_leader_lost(at(3));
    timer.start_within(milliseconds(10));
    timer.start_within(milliseconds(5));
    CHECK_FALSE(timer.start_due(at(7)));
    CHECK(timer.start_due(at(8)));
    timer.start_within(milliseconds(20));
    CHECK(timer.start_due(at(8)));
}

TEST_CASE(
    "election timer: the loss of a leader that was followed ends an earlier pause, and no other") {
    ElectionTimer timer;
    timer.retry_at(at(50));
    timer.note_leader(true, false);
    timer.on_leader_lost(at(3));
    CHECK_FALSE(timer.retry_due(at(49)));
    timer.note_leader(true, true);
    timer.note_leader(true, false);
    timer.on_leader_lost(at(4));
    CHECK(timer.retry_due(at(4)));
    timer.retry_at(at(60));
    timer.on_leader_lost(at(5));
    CHECK_FALSE(timer.retry_due(at(59)));
}

TEST_CASE("election timer: a pause is never shortened by another reason to wait") {
    ElectionTimer timer;
    timer.retry_at(at(50));
    timer.retry_not_before(at(20));
    CHECK_FALSE(timer.retry_due(at(49)));
    timer.retry_not_before(at(70));
    CHECK_FALSE(timer.retry_due(at(69)));
    CHECK(timer.retry_due(at(70)));
}

TEST_CASE("tenure: the first publication starts the task, the next ones do not") {
    std::vector<Action> out;
    Step step{at(1), out};
    Tenure tenure;
    tenure.become_candidate(step, {7});
    tenure.become_leader(step);
    tenure.publish(step, {{7}, at(100)}, MemberSet(0b11));
    tenure.publish(step, {{7}, at(200)}, MemberSet(0b11));
    CHECK(only<Publish>(out).size() == 2);
    CHECK(only<StartTask>(out) == std::vector<StartTask>{{{7}}});
    CHECK(only<Elected>(out) == std::vector<Elected>{{{7}, MemberSet(0b11)}});
    CHECK(tenure.elected_at() == at(1));
}

TEST_CASE("tenure: a step-down takes back what is published, and ends the task by its reason") {
    std::vector<Action> out;
    Step step{at(1), out};
    Tenure tenure;
    tenure.become_candidate(step, {7});
    tenure.become_leader(step);
    tenure.publish(step, {{7}, at(100)}, {});
    out.clear();
    tenure.become_stepping_down(step, {DeposedReason::unhealthy, {2}, true, at(5)});
    CHECK(only<Publish>(out) == std::vector<Publish>{{Epoch{}, long_ago, long_ago}});
    CHECK(tenure.stop_task(step));
    CHECK(only<StopTask>(out) == std::vector<StopTask>{{{7}, DeposedReason::unhealthy}});
    tenure.task_ended();
    CHECK_FALSE(tenure.stop_task(step));
    tenure.become_follower(step);
    CHECK_FALSE(tenure.published());
    CHECK(tenure.epoch() == Epoch{7});
}

/// h is 100 ms.
Timing with_heartbeat() {
    Timing timing = make_timing(TimingRequest{}, 3, Algorithm::bully);
    timing.heartbeat = milliseconds(100);
    timing.stagger = milliseconds(2);
    return timing;
}

TEST_CASE("heartbeat clock: a change is told after the stagger, good news at once") {
    using Due = HeartbeatClock::Due;
    const Timing timing = with_heartbeat();
    HeartbeatState state;
    HeartbeatClock clock;
    clock.told_all(at(0), state, timing);
    state.eligible = true;
    CHECK(clock.due_now(at(0), state, timing, false, timing.stagger) == Due::changed);
    clock.told_change(at(0), state, timing, true);
    CHECK(clock.due_now(at(1), state, timing, false, timing.stagger) == Due::none);

    state.leader = {3};
    CHECK(clock.due_now(at(1), state, timing, false, timing.stagger) == Due::none);
    CHECK(wake_of(clock, at(1)) == timing.stagger);
    CHECK(clock.due_now(at(3), state, timing, false, timing.stagger) == Due::changed);

    // Taken back before it was told: there is nothing to say.
    state.leader = nobody;
    CHECK(clock.due_now(at(3), state, timing, false, timing.stagger) == Due::none);
    CHECK(clock.due_now(at(99), state, timing, false, timing.stagger) == Due::none);
    CHECK(clock.due_now(at(100), state, timing, false, timing.stagger) == Due::periodic);
}

TEST_CASE("heartbeat clock: a renewal that is late by half a period is not waited for any more") {
    using Due = HeartbeatClock::Due;
    const Timing timing = with_heartbeat();
    const HeartbeatState state;
    HeartbeatClock clock;
    clock.told_all(at(0), state, timing);
    clock.told_leader(at(20), milliseconds(150));
    CHECK(clock.due_now(at(20), state, timing, true, timing.stagger) == Due::none);
    CHECK(wake_of(clock, at(20)) == milliseconds(150));
    CHECK(clock.due_now(at(169), state, timing, true, timing.stagger) == Due::none);
    CHECK(clock.due_now(at(170), state, timing, true, timing.stagger) == Due::periodic);
}

TEST_CASE("heartbeat clock: after a change that was told all are told again within a period") {
    const Timing timing = with_heartbeat();
    const HeartbeatState state;
    HeartbeatClock clock;
    clock.told_all(at(0), state, timing);
    clock.told_change(at(30), state, timing, true);
    CHECK(wake_of(clock, at(30)) == milliseconds(70));
    clock.told_leader(at(40), milliseconds(150));
    clock.told_change(at(50), state, timing, true);
    CHECK(wake_of(clock, at(50)) == milliseconds(100));
}

TEST_CASE("heartbeat clock: beside a renewal others are told every h, or every 2h when quiet") {
    using Due = HeartbeatClock::Due;
    const Timing timing = with_heartbeat();
    const HeartbeatState state;
    const auto at_a_renewal = [&](std::int64_t ms, bool quiet) {
        HeartbeatClock clock;
        clock.told_all(at(0), state, timing);
        clock.told_all_but_leader(at(10));
        clock.told_leader(at(ms), milliseconds(150));
        return clock.due_now(at(ms), state, timing, quiet, timing.stagger);
    };
    CHECK(at_a_renewal(59, false) == Due::none);
    CHECK(at_a_renewal(60, false) == Due::all_but_leader);
    CHECK(at_a_renewal(159, true) == Due::none);
    CHECK(at_a_renewal(160, true) == Due::all_but_leader);
}

TEST_CASE("reported leader: a resign is answered by the first leader of a later epoch") {
    std::vector<Action> out;
    Step step{at(1), out};
    ReportedLeader told;
    told.tell(step, {{1}, {5}, at(9), true}, "", false, at(8));
    told.answer_when_replaced({Asker::observer, 42}, {5});
    told.answer_resign(step, {1});
    CHECK(only<ResignAnswer>(out).empty());
    told.tell(step, {}, "", false, at(8));
    CHECK(told.epoch() == Epoch{5});
    told.answer_resign(step, {1});
    CHECK(only<ResignAnswer>(out).empty());
    told.tell(step, {{2}, {6}, at(9), true}, "", false, at(8));
    told.answer_resign(step, {1});
    told.answer_resign(step, {1});
    CHECK(only<ResignAnswer>(out) == std::vector<ResignAnswer>{{{Asker::observer, 42}, true, {}}});
}

TEST_CASE("reported leader: a resign after which nobody else leads is answered with no") {
    std::vector<Action> out;
    Step step{at(1), out};
    ReportedLeader told;
    told.answer_when_replaced({Asker::observer, 42}, {5});
    told.tell(step, {{1}, {6}, at(9), true}, "", false, at(8));
    told.answer_resign(step, {1});
    CHECK_FALSE(only_one<ResignAnswer>(out).done);
}

}  // namespace
}  // namespace bullring::protocol::member_parts_test
