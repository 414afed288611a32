// Tests a node's handling of its command, in each order of events; and all orders of a few of them.
#include "src/task/supervisor/supervision.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <signal.h>

namespace bullring::supervision_test {

namespace {

using protocol::Duration;
using protocol::milliseconds;
using protocol::seconds;
using protocol::TaskEnded;
using Order = Supervision::Order;
using Orders = Supervision::Orders;

constexpr protocol::Epoch epoch{7};
constexpr int exit_3 = 3 << 8;

CommandEnd by_itself(int status = 0) { return {CommandEnd::How::by_itself, status, 0, false}; }
CommandEnd asked(int status = SIGTERM) { return {CommandEnd::How::asked, status, 0, false}; }

template <class What>
std::vector<What> only(const Orders& orders) {
    std::vector<What> found;
    for (const Order& order : orders)
        if (const auto* one = std::get_if<What>(&order)) found.push_back(*one);
    return found;
}

std::vector<TaskEnded> ends(const Orders& orders) {
    std::vector<TaskEnded> found;
    for (const auto& told : only<Supervision::Tell>(orders))
        if (const auto* one = std::get_if<TaskEnded>(&told.event)) found.push_back(*one);
    return found;
}

Supervision running(Supervision::Policy policy = {}) {
    Supervision supervision(policy);
    CHECK(supervision.on_elected(epoch, {0}) == Orders{Supervision::StartCommand{epoch}});
    return supervision;
}

}  // namespace

TEST_CASE("supervision: the lease is let go only when nothing of the command is left") {
    Supervision supervision = running();
    CHECK(supervision.on_deposed(epoch) == Orders{Supervision::EndCommand{epoch}});
    CHECK(supervision.command_runs());
    CHECK(supervision.on_ended(asked(), seconds(1)) ==
          Orders{Supervision::Tell{TaskEnded{epoch, false, false}}});
    CHECK_FALSE(supervision.command_runs());
    CHECK(supervision.exit_status() == 0);
}

TEST_CASE("supervision: how it has ended is told unless it was asked to") {
    Supervision supervision = running();
    CHECK(supervision.unasked_end(by_itself(exit_3)) == "exit 3");
    CHECK(supervision.unasked_end(by_itself(SIGKILL)) == "signal 9");
    CHECK(supervision.unasked_end({CommandEnd::How::lost, SIGKILL, 0, false}) ==
          "its guard was killed");
    CHECK(supervision.unasked_end({CommandEnd::How::not_started, 0, ENOENT, false}) ==
          "it cannot be started: No such file or directory");
    supervision.on_deposed(epoch);
    CHECK(supervision.unasked_end(asked()).empty());
    CHECK(supervision.unasked_end({CommandEnd::How::lost, SIGKILL, 0, false}).empty());
    Supervision stalled = running();
    stalled.on_stalled();
    stalled.on_deposed(epoch);
    CHECK(stalled.unasked_end(asked()) == "it has stalled");
    Supervision leaving = running();
    leaving.on_stopping();
    CHECK(leaving.unasked_end(by_itself()).empty());
}

TEST_CASE("supervision: a command that its guard has ended counts as a lapse") {
    Supervision supervision = running();
    CHECK(supervision.on_ended({CommandEnd::How::deadline, SIGKILL, 0, false}, seconds(1)) ==
          Orders{Supervision::Tell{TaskEnded{epoch, false, false}}});
}

TEST_CASE("supervision: a command that ends by itself hands over before the node stands aside") {
    Supervision supervision = running();
    const Orders orders = supervision.on_ended(by_itself(exit_3), seconds(1));
    REQUIRE(orders.size() == 3);
    CHECK(orders[0] == Order{Supervision::Tell{TaskEnded{epoch, true, true}}});
    CHECK(orders[1] == Order{Supervision::SetWilling{
                           false, "its command has ended (exit 3); it stands again after 1s"}});
    CHECK(orders[2] == Order{Supervision::WaitToRestart{seconds(1)}});
    CHECK(supervision.on_restart_due() == Orders{Supervision::SetWilling{true, ""}});
    Supervision well = running();
    CHECK(ends(well.on_ended(by_itself(), seconds(1))) ==
          std::vector<TaskEnded>{{epoch, true, false}});
}

TEST_CASE("supervision: the pause doubles up to a minute while the command ends soon") {
    Supervision supervision({});
    const auto pause_after = [&](Duration ran) {
        supervision.on_elected(epoch, {0});
        return only<Supervision::WaitToRestart>(supervision.on_ended(by_itself(), ran)).at(0).delay;
    };
    for (const int expected : {1, 2, 4, 8, 16, 32, 60, 60}) {
        CHECK(pause_after(Supervision::soon - milliseconds(1)) == seconds(expected));
    }
    CHECK(pause_after(Supervision::soon) == seconds(1));
    CHECK(pause_after(milliseconds(1)) == seconds(2));
}

TEST_CASE("supervision: the pause doubles up to the longest") {
    Supervision::Policy policy;
    policy.restart_delay = milliseconds(100);
    policy.longest_restart_delay = milliseconds(250);
    Supervision supervision(policy);
    const auto pause = [&] {
        supervision.on_elected(epoch, {0});
        return only<Supervision::WaitToRestart>(supervision.on_ended(by_itself(exit_3), {0}))
            .at(0)
            .delay;
    };
    CHECK(pause() == milliseconds(100));
    CHECK(pause() == milliseconds(200));
    CHECK(pause() == milliseconds(250));
    CHECK(pause() == milliseconds(250));
}

TEST_CASE("supervision: an end from outside does not double the pause, where that is asked for") {
    const CommandEnd killed = by_itself(SIGKILL);
    const CommandEnd guard_killed{CommandEnd::How::lost, SIGKILL, 0, false};
    const auto pause = [](Supervision& supervision, const CommandEnd& end) {
        return only<Supervision::WaitToRestart>(supervision.on_ended(end, {0})).at(0).delay;
    };
    Supervision::Policy policy;
    policy.restart_delay = milliseconds(100);
    Supervision as_any_other(policy);
    policy.restart_delay_if_killed = milliseconds(50);
    Supervision supervision(policy);
    for (int i = 0; i < 3; ++i) {
        for (const CommandEnd& end : {killed, guard_killed}) {
            supervision.on_elected(epoch, {0});
            CHECK(pause(supervision, end) == milliseconds(50));
        }
        supervision.on_elected(epoch, {0});
        supervision.on_stalled();
        supervision.on_deposed(epoch);
        CHECK(pause(supervision, asked(SIGKILL)) == milliseconds(50));
        // A failure of its own does, whatever was between.
        supervision.on_elected(epoch, {0});
        CHECK(pause(supervision, by_itself(exit_3)) == milliseconds(100) * (1 << i));
        as_any_other.on_elected(epoch, {0});
        CHECK(pause(as_any_other, killed) == milliseconds(100) * (1 << i));
    }
}

TEST_CASE("supervision: after so many restarts in a row the node only votes") {
    Supervision supervision({OnExit::stay, milliseconds(10), 2});
    const auto orders_after = [&](Duration ran) {
        supervision.on_elected(epoch, {0});
        return supervision.on_ended(by_itself(exit_3), ran);
    };
    CHECK(only<Supervision::WaitToRestart>(orders_after({0})).size() == 1);
    CHECK(only<Supervision::WaitToRestart>(orders_after(seconds(11))).size() == 1);
    CHECK(only<Supervision::WaitToRestart>(orders_after({0})).size() == 1);
    const Orders last = orders_after({0});
    CHECK(only<Supervision::WaitToRestart>(last).empty());
    REQUIRE(only<Supervision::SetWilling>(last).size() == 1);
    CHECK_FALSE(only<Supervision::SetWilling>(last)[0].willing);
    CHECK(supervision.has_given_up());
    CHECK(supervision.on_restart_due() == Orders{Supervision::SetWilling{true, ""}});
    CHECK_FALSE(supervision.has_given_up());
    CHECK(only<Supervision::WaitToRestart>(orders_after({0})).size() == 1);
    CHECK(only<Supervision::WaitToRestart>(orders_after({0})).size() == 1);
    CHECK(only<Supervision::WaitToRestart>(orders_after({0})).empty());
}

TEST_CASE("supervision: on-exit vote never stands again, on-exit leave ends with the status") {
    Supervision votes = running({OnExit::vote, seconds(1), {}});
    const Orders voted = votes.on_ended(by_itself(), seconds(60));
    CHECK(only<Supervision::WaitToRestart>(voted).empty());
    CHECK(only<Supervision::SetWilling>(voted).size() == 1);
    CHECK(votes.exit_status() == 0);

    Supervision leaves = running({OnExit::leave, seconds(1), {}});
    const Orders left = leaves.on_ended(by_itself(exit_3), seconds(60));
    CHECK(only<Supervision::Leave>(left).size() == 1);
    CHECK(leaves.exit_status() == 3);
    // The command's status stays the program's, although the node then hands over.
    leaves.on_stopping();
    CHECK(leaves.on_deposed(epoch).empty());
    CHECK(leaves.exit_status() == 3);
}

TEST_CASE("supervision: a stopped program has the status of the command that it ended") {
    Supervision supervision = running();
    supervision.on_stopping();
    supervision.on_deposed(epoch);
    CHECK(supervision.on_ended(asked(SIGTERM), seconds(1)).size() == 1);
    CHECK(supervision.exit_status() == 128 + SIGTERM);
    Supervision idle({});
    idle.on_stopping();
    CHECK(idle.exit_status() == 0);
}

TEST_CASE("supervision: a stop while the command is already ending has its status, too") {
    Supervision supervision = running();
    supervision.on_deposed(epoch);
    supervision.on_stopping();
    supervision.on_ended(asked(SIGTERM), seconds(1));
    CHECK(supervision.exit_status() == 128 + SIGTERM);
}

TEST_CASE("supervision: a stall is told once, and the node stands aside after it") {
    Supervision supervision = running({OnExit::vote, seconds(1), {}});
    CHECK(supervision.on_stalled() == Orders{Supervision::Tell{protocol::Stalled{}}});
    CHECK(supervision.on_stalled().empty());
    CHECK(supervision.on_deposed(epoch) == Orders{Supervision::EndCommand{epoch}});
    const Orders orders = supervision.on_ended(asked(), seconds(1));
    CHECK(ends(orders) == std::vector<TaskEnded>{{epoch, false, false}});
    CHECK(only<Supervision::WaitToRestart>(orders).size() == 1);
    CHECK(supervision.on_stalled().empty());
}

TEST_CASE("supervision: a guard that is lost in an end that was asked for is no failure") {
    const CommandEnd lost{CommandEnd::How::lost, SIGKILL, 0, false};
    Supervision asked_for = running({OnExit::stay, seconds(1), 0});
    asked_for.on_deposed(epoch);
    CHECK(asked_for.on_ended(lost, seconds(1)) ==
          Orders{Supervision::Tell{TaskEnded{epoch, false, true}}});
    // By itself it is one, and the only one that is allowed.
    Supervision alone = running({OnExit::stay, seconds(1), 0});
    const Orders orders = alone.on_ended(lost, seconds(1));
    REQUIRE(only<Supervision::SetWilling>(orders).size() == 1);
    CHECK(only<Supervision::SetWilling>(orders)[0].why ==
          "the guard of its command was killed; it only votes from now on");
}

TEST_CASE("supervision: a command that cannot be started counts as one that has failed soon") {
    Supervision supervision = running();
    const Orders orders =
        supervision.on_ended({CommandEnd::How::not_started, 0, ENOENT, false}, seconds(60));
    CHECK(ends(orders) == std::vector<TaskEnded>{{epoch, true, true}});
    CHECK(only<Supervision::WaitToRestart>(orders).size() == 1);
}

TEST_CASE("supervision: Ctrl-C to a command that has the terminal ends the program") {
    Supervision supervision = running();
    const Orders orders =
        supervision.on_ended({CommandEnd::How::by_itself, SIGINT, 0, true}, seconds(1));
    CHECK(only<Supervision::Leave>(orders).size() == 1);
    CHECK(supervision.exit_status() == 128 + SIGINT);
    Supervision without = running();
    CHECK(only<Supervision::Leave>(without.on_ended(by_itself(SIGINT), seconds(1))).empty());
}

TEST_CASE("supervision: in any order of events each leadership is started and told ended once") {
    // Each digit of a walk's number picks what happens next, if it can.
    enum class Happening { elected, deposed, stopped, stalled, ended, ended_asked, restart };
    constexpr int kinds = 7;
    constexpr int events = 6;
    int walks = 1;
    for (int i = 0; i < events; ++i) walks *= kinds;
    for (const OnExit on_exit : {OnExit::stay, OnExit::vote, OnExit::leave}) {
        for (int walk = 0; walk < walks; ++walk) {
            Supervision supervision({on_exit, seconds(1), {}});
            std::uint64_t led = 0;
            std::size_t started = 0;
            std::size_t told = 0;
            bool leads = false;  // as the node sees it, until TaskEnded
            bool sound = true;
            int rest = walk;
            for (int i = 0; i < events; ++i, rest /= kinds) {
                Orders orders;
                switch (static_cast<Happening>(rest % kinds)) {
                    case Happening::elected:
                        if (leads) break;
                        leads = true;
                        orders = supervision.on_elected({++led}, seconds(i));
                        break;
                    case Happening::deposed:
                        if (leads) orders = supervision.on_deposed({led});
                        break;
                    case Happening::stopped:
                        supervision.on_stopping();
                        if (leads) orders = supervision.on_deposed({led});
                        break;
                    case Happening::stalled: orders = supervision.on_stalled(); break;
                    case Happening::ended:
                        orders = supervision.on_ended(by_itself(), seconds(i));
                        break;
                    case Happening::ended_asked:
                        orders = supervision.on_ended(asked(), seconds(i));
                        break;
                    case Happening::restart: orders = supervision.on_restart_due(); break;
                }
                started += only<Supervision::StartCommand>(orders).size();
                for (const TaskEnded& end : ends(orders)) {
                    ++told;
                    sound = sound && leads && end.epoch.value == led;
                    leads = false;
                }
                sound = sound && started == led && told == led - (leads ? 1 : 0) &&
                        supervision.command_runs() == leads;
            }
            if (!sound)
                FAIL_CHECK("walk " << walk << " with on-exit " << static_cast<int>(on_exit));
        }
    }
}

}  // namespace bullring::supervision_test
