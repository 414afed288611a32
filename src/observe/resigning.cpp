#include "src/observe/resigning.hpp"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/values/durations.hpp"

namespace bullring {
namespace {

std::string name_of(protocol::NodeId id) { return "node " + std::to_string(id.value); }

Outcome success(const Agreement& now) {
    return {0, name_of(now.leader) + " leads, epoch " + std::to_string(now.epoch.value)};
}

class Resigning {
public:
    Resigning(AskedCluster& members, protocol::NodeId successor, protocol::Duration timeout)
        : members_(members), successor_(successor), timeout_(timeout) {}

    asio::awaitable<Outcome> run() {
        const Enough found = [](const auto& so_far) { return claimed_leader(so_far).has_value(); };
        while (!members_.time_is_up()) {
            const std::vector<MemberAnswer> answers = co_await members_.ask(found);
            if (handed_over_)
                if (const auto now = agreed(answers); now && is_wanted(*now))
                    co_return success(*now);
            if (const auto leader = claimed_leader(answers)) {
                if (is_wanted(*leader)) co_return success(*leader);
                // It did step down, nobody else took over, and it leads again: not twice.
                if (asked_ && leader->leader == asked_->leader && leader->epoch > asked_->epoch)
                    break;
                if (!is_replaced(*leader)) {
                    asked_ = leader;
                    handed_over_ = false;
                    if (auto outcome = co_await hand_over(*leader)) co_return std::move(*outcome);
                }
            }
            // The obstacle may pass: a successor that has just started, or has just resigned.
            co_await members_.pause();
        }
        // The leader knows that it has a successor, even if the others could not be asked.
        if (handed_over_) co_return Outcome{0, {}};
        co_return Outcome{1, why_not()};
    }

private:
    std::optional<Agreement> agreed(const std::vector<MemberAnswer>& answers) const {
        if (!members_.asks_one()) return agreement(answers);
        for (const MemberAnswer& one : answers)
            if (one.answer && one.answer->follows_live_leader())
                return Agreement{one.answer->leader, one.answer->epoch};
        return std::nullopt;
    }

    /// The leader that was to be reached: the one that was named, or any other than the one asked.
    bool is_wanted(const Agreement& now) const {
        if (asked_ && now.epoch <= asked_->epoch) return false;
        return successor_ ? now.leader == successor_ : asked_ && now.leader != asked_->leader;
    }

    /// It has handed over, or another has been asked since: this is what somebody does not know
    /// yet.
    bool is_replaced(const Agreement& leader) const {
        return asked_ &&
               (leader.epoch < asked_->epoch || (handed_over_ && leader.epoch == asked_->epoch));
    }

    /// The only place that says why the time is up: a refusal that is known, before all else.
    std::string why_not() const {
        if (!refusal_.empty()) return refusal_;
        if (!asked_) return "no leader was found within " + protocol::to_text(timeout_);
        return "no other leader is in place within " + protocol::to_text(timeout_) + " after " +
               name_of(asked_->leader) + " was asked to hand over";
    }

    /// Nothing when there is more to be done: the leader refuses for now, is gone, or has handed
    /// over.
    asio::awaitable<std::optional<Outcome>> hand_over(Agreement old) {
        // Named: g++ 12 destroys a temporary of such an expression twice.
        ObserverMessage wish = Observe{members_.name(), ObserveWhat::resign, successor_};
        if (!co_await members_.request(old.leader, std::move(wish))) co_return std::nullopt;
        const Enough newer = [this, old](const auto& so_far) {
            const std::optional<Agreement> now = agreed(so_far);
            return now && now->epoch > old.epoch && now->leader != old.leader;
        };
        for (bool answered = false; !answered && !members_.time_is_up();) {
            const auto answer = co_await members_.answer();
            answered = answer.has_value() || !answer.error().timed_out;
            if (answer) {
                if (auto outcome = on_answer(old.leader, *answer)) co_return outcome;
                if (!handed_over_) co_return std::nullopt;
            }
            // The others may follow a new leader while the old one can't answer.
            const auto others = co_await members_.ask(newer);
            if (!newer(others)) continue;
            const Agreement now = *agreed(others);
            if (is_wanted(now)) co_return success(now);
            co_return std::nullopt;  // another than was named: that one is asked next
        }
        co_return std::nullopt;
    }

    std::optional<Outcome> on_answer(protocol::NodeId leader, const ObserverMessage& answer) {
        const std::string refuses = name_of(leader) + " does not hand over: ";
        const auto* result = std::get_if<ResignResult>(&answer);
        if (result == nullptr) {
            const auto* refused = std::get_if<ObserverRefused>(&answer);
            return Outcome{1, refuses + (refused != nullptr ? difference(*refused)
                                                            : "its answer is something else")};
        }
        handed_over_ = result->done;
        if (result->done) return std::nullopt;
        refusal_ = refuses + (result->why.empty() ? "no reason given" : result->why);
        if (result->lasting) return Outcome{1, refusal_};
        return std::nullopt;
    }

    AskedCluster& members_;
    protocol::NodeId successor_;
    protocol::Duration timeout_;
    std::optional<Agreement> asked_;  // the last leader that was asked
    std::string refusal_;             // the last one
    bool handed_over_ = false;        // by the last answer
};

}  // namespace

asio::awaitable<Outcome> resign_leader(AskedCluster& members, protocol::NodeId successor,
                                       protocol::Duration timeout) {
    Resigning resigning(members, successor, timeout);
    co_return co_await resigning.run();
}

}  // namespace bullring
