#include "src/verify/drill/course.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <variant>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "src/observe/which_cluster.hpp"
#include "src/verify/drill/absence.hpp"
#include "src/verify/drill/drill_options.hpp"

namespace bullring::drill {

namespace {

/// A service manager has restarted a process by then, and it has joined the others. What a fault
/// itself takes (three leases) comes on top.
constexpr protocol::Duration restart_max = protocol::seconds(30);
constexpr protocol::Duration fault_answer_max = protocol::seconds(1);

std::string name_of(protocol::NodeId id) { return "node " + std::to_string(id.value); }

/// All of them follow one leader, and would vote for another.
std::optional<Agreement> unanimity(const std::vector<MemberAnswer>& members) {
    const std::optional<Agreement> agreed = agreement(members);
    if (!agreed || !all_reachable(members) || !all_reachable_vote(members)) return std::nullopt;
    const bool all = std::all_of(members.begin(), members.end(), [&](const MemberAnswer& member) {
        return member.answer->follows_live_leader() && member.answer->leader == agreed->leader &&
               member.answer->epoch == agreed->epoch;
    });
    return all ? agreed : std::nullopt;
}

}  // namespace

Course::Course(ObserverLoop& loop, const DrillOptions& options, Callbacks callbacks)
    : loop_(loop),
      options_(options),
      callbacks_(std::move(callbacks)),
      lookout_(loop, members_, options.cluster),
      pause_(loop.io) {}

asio::awaitable<bool> Course::run() {
    co_await find_members();
    if (!co_await all_allow()) co_return false;
    begun_ = true;
    lookout_.start();
    bool done = false;
    std::exception_ptr failure;
    try {
        done = co_await rounds();
    } catch (...) {
        failure = std::current_exception();
    }
    co_await lookout_.stop();
    if (failure) std::rethrow_exception(failure);
    co_return done;
}

void Course::stop() {
    stopped_ = true;
    pause_.cancel();
}

/// Those of the peer list; once the list of members was changed, those that it has.
asio::awaitable<void> Course::find_members() {
    members_ = options_.peers;
    const auto answers =
        co_await ask_members(loop_, options_.peers, options_.cluster, deadline_in(round_max));
    const protocol::Membership list = newest_list(answers);
    if (!list.changed()) co_return;
    members_.clear();
    for (const MemberAnswer& one : answers)
        if (const auto endpoint = parse_endpoint(one.address);
            endpoint && list.find(one.id) != nullptr)
            members_.emplace(one.id, *endpoint);
}

// ---- Permission.

/// Nothing has happened until all have said that it may.
asio::awaitable<bool> Course::all_allow() {
    bool allowed = true;
    for (const auto& [id, endpoint] : members_) {
        const Asked asked = co_await ask(id, DrillRequest::permission, {});
        std::string problem = asked.problem;
        if (asked.result && !asked.result->done) {
            problem = "it refuses: " + asked.result->why;
        } else if (asked.result && asked.result->members != members_.size()) {
            problem = fmt::format("its cluster has {} members, and the peer list has {}",
                                  asked.result->members, members_.size());
        }
        if (asked.result) leases_[id] = asked.result->lease;
        if (problem.empty()) continue;
        allowed = false;
        callbacks_.problem(fmt::format("node {} at {}: {}", id.value, to_text(endpoint), problem));
    }
    co_return allowed;
}

asio::awaitable<Course::Asked> Course::ask(protocol::NodeId member, DrillRequest what,
                                           protocol::Epoch epoch) {
    ObserverLink link(loop_);
    const Deadline end = deadline_in(fault_answer_max);
    // Named: g++ 12 destroys a temporary of such an expression twice.
    ObserverMessage request = Drill{options_.cluster, what, epoch};
    const auto opened = co_await link.open(member, members_.at(member), std::move(request), end);
    if (!opened) co_return Asked{std::nullopt, opened.error().why};
    const auto received = co_await link.receive(end);
    if (!received)
        co_return Asked{std::nullopt,
                        received.error().why + "; a node of an earlier version knows no drill"};
    if (received->sender.id != member)
        co_return Asked{std::nullopt, "it says that it is " + name_of(received->sender.id)};
    if (const auto* result = std::get_if<DrillResult>(&received->message))
        co_return Asked{*result, ""};
    if (const auto* resigned = std::get_if<ResignResult>(&received->message))
        co_return Asked{DrillResult{resigned->done, resigned->why, {}, 0}, ""};
    if (const auto* refused = std::get_if<ObserverRefused>(&received->message))
        co_return Asked{std::nullopt, difference(*refused)};
    co_return Asked{std::nullopt, "its answer is something else"};
}

// ---- Rounds.

bool Course::over() const {
    const bool enough =
        options_.rounds && tally_.rounds() >= static_cast<std::size_t>(*options_.rounds);
    return stopped_ || enough || (end_ && std::chrono::steady_clock::now() >= *end_);
}

asio::awaitable<bool> Course::rounds() {
    if (options_.time) end_ = deadline_in(*options_.time);
    for (std::size_t turn = 0; !over(); ++turn) {
        const Deadline next = deadline_in(options_.every);
        if (!co_await play(options_.faults[turn % options_.faults.size()])) break;
        if (!over()) co_await pause_until(end_ ? std::min(next, *end_) : next);
    }
    co_return !ended_early_;
}

/// False when the drill is stopped, or can't go on.
asio::awaitable<bool> Course::play(DrillRequest fault) {
    Deadline at{};
    const auto old = co_await strike(fault, at);
    if (!old) co_return false;
    Round round{fault, leases_[old->leader], std::nullopt, false};
    progress(fault, name_of(old->leader) + " led; waiting for the next leader");
    const Deadline back_by = deadline_in(return_max());
    if (const auto found = co_await lookout_.leader_found(back_by)) {
        const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(*found - at).count();
        round.without_leader = protocol::Duration{std::max<std::int64_t>(ns, 0)};
        if (round.late())
            callbacks_.problem(fmt::format("{} of {}: no leader within 3 leases ({})", name(fault),
                                           name_of(old->leader), to_text(round.lease)));
    } else {
        callbacks_.problem(fmt::format("{} of {}: no leader within {}", name(fault),
                                       name_of(old->leader), to_text(return_max())));
    }
    progress(fault, "waiting for " + name_of(old->leader) + " to return");
    const bool back = (co_await all_agree(back_by, false)).has_value();
    if (const std::string two = lookout_.take_contradiction(); !two.empty()) {
        round.two_leaders = true;
        callbacks_.problem("two leaders at once: " + two);
    }
    tally_.add(round);
    if (!back) end_early();
    co_return back;
}

/// Lets the fault happen to whoever leads. The leader that it happened to, and when; nothing when
/// the members do not agree, or the drill was stopped before.
asio::awaitable<std::optional<Agreement>> Course::strike(DrillRequest fault, Deadline& at) {
    progress(fault, "waiting until all members agree");
    const Deadline end = deadline_in(return_max());
    while (!stopped_) {
        const auto leader = co_await all_agree(end, true);
        if (stopped_) break;
        if (!leader) {
            end_early();
            co_return std::nullopt;
        }
        lookout_.expect_leader_above(leader->epoch);
        const Deadline asked_at = std::chrono::steady_clock::now();
        const Asked asked = co_await ask(leader->leader, fault, leader->epoch);
        if (asked.result && asked.result->done) {
            // A leader that resigns answers when it has done so, all others before.
            at = fault == DrillRequest::resign ? asked_at : std::chrono::steady_clock::now();
            co_return leader;
        }
        // It leads no more, or can't resign now: that passes.
        refusal_ =
            name_of(leader->leader) + ": " + (asked.result ? asked.result->why : asked.problem);
        if (std::chrono::steady_clock::now() >= end) {
            ended_early_ = true;
            callbacks_.problem(fmt::format("{}: {}", name(fault), refusal_));
            co_return std::nullopt;
        }
        co_await pause_until(deadline_in(round_pause));
    }
    co_return std::nullopt;
}

asio::awaitable<std::optional<Agreement>> Course::all_agree(Deadline end, bool may_be_stopped) {
    while (true) {
        last_answers_ =
            co_await ask_members(loop_, members_, options_.cluster, deadline_in(round_max));
        if (const auto agreed = unanimity(last_answers_)) co_return agreed;
        if (std::chrono::steady_clock::now() >= end || (may_be_stopped && stopped_))
            co_return std::nullopt;
        co_await sleep_until(loop_, std::min(end, deadline_in(round_pause)));
    }
}

protocol::Duration Course::return_max() const {
    protocol::Duration longest{0};
    for (const auto& [id, lease] : leases_) longest = std::max(longest, lease);
    return restart_max + without_leader_max(longest);
}

asio::awaitable<void> Course::pause_until(Deadline at) {
    if (stopped_) co_return;
    pause_.expires_at(at);
    asio::error_code ignored;
    co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// ---- Words.

void Course::progress(DrillRequest fault, const std::string& what) const {
    const std::string of = options_.rounds ? fmt::format(" of {}", *options_.rounds) : "";
    callbacks_.progress(
        fmt::format("round {}{}, {}: {}", tally_.rounds() + 1, of, name(fault), what));
}

/// Because not all members are there.
void Course::end_early() {
    ended_early_ = true;
    std::string why;
    for (const Absence& absence : absences(last_answers_)) {
        if (!not_back_) not_back_ = absence.member;
        why += (why.empty() ? "" : "; ") + absence.why;
    }
    callbacks_.problem(fmt::format("the drill ends, because not all members are back within {}: {}",
                                   to_text(return_max()),
                                   why.empty() ? "they do not follow one leader" : why));
}

}  // namespace bullring::drill
