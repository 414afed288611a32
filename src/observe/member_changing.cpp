#include "src/observe/member_changing.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "protocol/values/durations.hpp"
#include "src/observe/resigning.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {
namespace {

using protocol::MemberChange;

std::string member_name(protocol::NodeId id) { return "node " + std::to_string(id.value); }

class Changing {
public:
    Changing(AskedCluster& cluster, const MemberChange& change, protocol::ClusterId meant,
             protocol::Duration timeout)
        : cluster_(cluster), change_(change), meant_(meant), timeout_(timeout) {}

    asio::awaitable<Outcome> run() {
        const Enough found = [](const auto& so_far) { return claimed_leader(so_far).has_value(); };
        while (!cluster_.time_is_up()) {
            const std::vector<MemberAnswer> answers = co_await cluster_.ask(found);
            if (const auto leader = claimed_leader(answers)) {
                // Later it may be so by the request.
                if (const auto list = newest_list(answers); !was_so_before_ && !list.empty())
                    was_so_before_ = is_so_already(list, change_);
                // Not as one expression: g++ 12 destroys a temporary of it twice.
                std::optional<Outcome> outcome;
                if (removes(leader->leader))
                    outcome = co_await hand_over(leader->leader);
                else
                    outcome = co_await ask_for_change(leader->leader,
                                                      meant_ ? meant_ : meant_cluster_id(answers));
                if (outcome) co_return std::move(*outcome);
            }
            // The obstacle may pass: a member that is being started, a change that is under way.
            co_await cluster_.pause();
        }
        co_return Outcome{1, why_not()};
    }

private:
    bool removes(protocol::NodeId leader) const {
        return change_.what == MemberChange::What::remove && change_.id == leader;
    }

    asio::awaitable<std::optional<Outcome>> hand_over(protocol::NodeId leader) {
        const Outcome resigned = co_await resign_leader(cluster_, protocol::nobody, timeout_);
        if (resigned.exit_status == 0) {
            handed_over_ = true;
            co_return std::nullopt;
        }
        co_return Outcome{1, member_name(leader) + " leads and is not removed: " + resigned.text};
    }

    /// Nothing when there is more to be done: the leader refuses for now, or is gone.
    asio::awaitable<std::optional<Outcome>> ask_for_change(protocol::NodeId leader,
                                                           protocol::ClusterId meant) {
        // Named: g++ 12 destroys a temporary of such an expression twice.
        ObserverMessage wish = ChangeMembers{cluster_.name(), change_, meant};
        if (!co_await cluster_.request(leader, std::move(wish))) co_return std::nullopt;
        asked_ = leader;
        while (!cluster_.time_is_up()) {
            const auto answer = co_await cluster_.answer();
            if (answer) co_return on_answer(leader, *answer);
            if (!answer.error().timed_out) {
                gone_ = answer.error().why;
                co_return std::nullopt;
            }
        }
        co_return std::nullopt;
    }

    std::optional<Outcome> on_answer(protocol::NodeId leader, const ObserverMessage& answer) {
        asked_ = protocol::nobody;
        const auto* result = std::get_if<ChangeResult>(&answer);
        if (result == nullptr) {
            const auto* refused = std::get_if<ObserverRefused>(&answer);
            return Outcome{1, member_name(leader) + ": " +
                                  (refused != nullptr ? difference(*refused)
                                                      : "its answer is something else")};
        }
        if (result->done) return Outcome{0, done_text(change_, was_so_before_.value_or(false))};
        refusal_ = result->why.empty() ? "no reason given" : result->why;
        if (result->lasting) return Outcome{1, refusal_};
        return std::nullopt;
    }

    /// The only place that says why the time is up: a refusal that is known, before all else.
    std::string why_not() const {
        const std::string within = " within " + protocol::to_text(timeout_);
        if (!refusal_.empty()) return refusal_ + "; waited " + protocol::to_text(timeout_);
        if (!asked_ && handed_over_)
            return member_name(change_.id) +
                   " has handed over and is still a member: its successor was not found" + within;
        if (!asked_) return "no leader was found" + within;
        return member_name(asked_) + " has not answered" + within +
               (gone_.empty() ? "" : " (" + gone_ + ")") +
               "; the change may still be made: bullring member list shows it";
    }

    AskedCluster& cluster_;
    const MemberChange& change_;
    protocol::ClusterId meant_;
    protocol::Duration timeout_;
    std::optional<bool> was_so_before_;
    bool handed_over_ = false;  // the member that is to be removed
    protocol::NodeId asked_;    // the leader that was asked last and has not answered
    std::string gone_;          // why it never will
    std::string refusal_;       // the last one
};

}  // namespace

std::string done_text(const MemberChange& change, bool was_so_before) {
    std::string text = member_name(change.id);
    switch (change.what) {
        case MemberChange::What::add: text += " is a member, at " + change.address; break;
        case MemberChange::What::remove: text += " is no member"; break;
        case MemberChange::What::promote: text += " has a vote"; break;
        case MemberChange::What::demote: text += " has no vote"; break;
        case MemberChange::What::address: text += " has the address " + change.address; break;
    }
    if (was_so_before) return text + ", as before";
    if (change.what == MemberChange::What::remove)
        text += ", and stays out until it is added again";
    return text;
}

asio::awaitable<Outcome> change_members(AskedCluster& cluster, std::vector<MemberChange> changes,
                                        protocol::Duration timeout, protocol::ClusterId meant) {
    Outcome outcome;
    std::string done;
    for (const MemberChange& change : changes) {
        Changing changing(cluster, change, meant, timeout);
        outcome = co_await changing.run();
        if (outcome.exit_status != 0) {
            if (!done.empty()) outcome.text = done + "; but " + outcome.text;
            co_return outcome;
        }
        done += (done.empty() ? "" : ", ") + outcome.text;
    }
    co_return Outcome{0, done};
}

}  // namespace bullring
