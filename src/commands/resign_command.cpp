// `bullring resign`: finds the leader, asks it to hand over, again while it refuses, and waits
// until another one is in place.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/timing.hpp"
#include "src/commands/commands.hpp"
#include "src/observer/observer_client.hpp"
#include "src/observer/status_report.hpp"
#include "src/report/logging.hpp"

namespace bullring {
namespace {

/// While the leader has not answered, the others are asked this often whether they follow a new
/// one.
constexpr protocol::Duration look_around_every = protocol::milliseconds(200);

/// The member that says of itself that it leads; with several, the one with the newest epoch.
std::optional<Agreement> find_leader(const std::vector<MemberAnswer>& answers) {
    std::optional<Agreement> found;
    for (const MemberAnswer& member : answers) {
        if (!member.answer || member.answer->role != "leader" ||
            !member.answer->follows_live_leader()) {
            continue;
        }
        if (!found || found->epoch < member.answer->epoch) {
            found = Agreement{member.id, member.answer->epoch};
        }
    }
    return found;
}

class ResignCommand {
public:
    ResignCommand(ObserverLoop& loop, const ResignOptions& options)
        : loop_(loop),
          options_(options),
          end_(deadline_in(options.timeout)),
          notes_(options.log.level) {}

    asio::awaitable<int> run() {
        std::optional<Agreement> asked;
        for (;;) {
            const std::optional<Agreement> leader = co_await wait_for_leader();
            if (!leader) break;
            if (!asked) asked = leader;
            const bool moved = leader->leader != asked->leader;
            if (options_.to ? leader->leader == options_.to : moved) {
                co_return succeed(*leader);  // it is where it was asked to be
            }
            // It did step down, nobody else took over, and it leads again: not twice.
            if (!moved && leader->epoch != asked->epoch) break;
            asked = leader;
            if (const auto exit_status = co_await hand_over(*leader)) co_return *exit_status;
            // What stands against it may pass: a successor that has just started, or just resigned.
            const Deadline next = deadline_in(round_pause);
            if (next >= end_) break;
            co_await sleep_until(loop_, next);
        }
        co_return fail(refusal_.empty() ? "no leader was found within " + timeout_text()
                                        : refusal_);
    }

private:
    std::string timeout_text() const { return protocol::to_text(options_.timeout); }

    static int fail(const std::string& why) {
        print_error(why);
        return 1;
    }

    static int succeed(const Agreement& now) {
        std::printf("node %llu leads, epoch %llu\n",
                    static_cast<unsigned long long>(now.leader.value),
                    static_cast<unsigned long long>(now.epoch.value));
        return std::fflush(stdout) == 0 ? 0 : fail("stdout can't be written");
    }

    asio::awaitable<std::optional<Agreement>> wait_for_leader() {
        const Enough found = [](const auto& so_far) { return find_leader(so_far).has_value(); };
        for (;;) {
            const auto answers = co_await ask_members(loop_, options_.peers, options_.cluster,
                                                      round_deadline(end_), found);
            notes_.say(answers);
            const std::optional<Agreement> leader = find_leader(answers);
            const Deadline next = deadline_in(round_pause);
            if (leader || next >= end_) co_return leader;
            co_await sleep_until(loop_, next);
        }
    }

    /// Asks once whether a majority follows a newer leader.
    asio::awaitable<std::optional<Agreement>> look_for_newer(Agreement old) {
        const Enough newer = [old](const auto& so_far) {
            const std::optional<Agreement> agreed = agreement(so_far);
            return agreed && agreed->epoch > old.epoch;
        };
        const auto answers = co_await ask_members(loop_, options_.peers, options_.cluster,
                                                  round_deadline(end_), newer);
        co_return newer(answers) ? agreement(answers) : std::nullopt;
    }

    /// The exit status, or nothing when the leader refuses for now: `refusal_` says why.
    asio::awaitable<std::optional<int>> hand_over(Agreement old) {
        const std::string old_name = "node " + std::to_string(old.leader.value);
        ObserverLink link(loop_);
        Observe request{options_.cluster, ObserveWhat::resign, options_.to};
        const auto opened =
            co_await link.open(options_.peers.at(old.leader), std::move(request), end_);
        bool answered = !opened.has_value();  // or never will
        bool done = false;
        while (std::chrono::steady_clock::now() < end_) {
            if (!answered) {
                const auto until = std::min(end_, deadline_in(look_around_every));
                const auto received = co_await link.receive(until);
                if (received) {
                    const auto* result = std::get_if<ResignResult>(&received->message);
                    if (result == nullptr) {
                        co_return fail(old_name + " does not hand over: " +
                                       misunderstanding(received->message));
                    }
                    if (!result->done) {
                        refusal_ = old_name + " does not hand over: " + reason_of(*result);
                        co_return std::nullopt;
                    }
                    done = true;
                }
                answered = received.has_value() || !received.error().timed_out;
            }
            if (const auto now = co_await look_for_newer(old)) co_return succeed(*now);
            if (answered) co_await sleep_until(loop_, deadline_in(round_pause));
        }
        // The leader knows that it has a successor, even if a majority could not be asked.
        if (done) co_return 0;
        co_return fail("no other leader is in place within " + timeout_text() + " after " +
                       old_name + " was asked to hand over");
    }

    static std::string reason_of(const ResignResult& refused) {
        return refused.why.empty() ? "no reason given" : refused.why;
    }

    static std::string misunderstanding(const ObserverMessage& message) {
        const auto* refused = std::get_if<ObserverRefused>(&message);
        return refused != nullptr ? difference(*refused) : "it answers something else";
    }

    ObserverLoop& loop_;
    const ResignOptions& options_;
    Deadline end_;
    RefusalNotes notes_;
    std::string refusal_;  // the last one
};

}  // namespace

int run_resign(const ResignOptions& options) {
    return run_observer([&](ObserverLoop& loop) -> asio::awaitable<int> {
        ResignCommand command(loop, options);
        co_return co_await command.run();
    });
}

}  // namespace bullring
