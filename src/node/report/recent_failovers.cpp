#include "src/node/report/recent_failovers.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "protocol/trace/trace.hpp"

namespace bullring {

using protocol::Coordinator;
using protocol::CoordinatorToken;
using protocol::Duration;
using protocol::Epoch;
using protocol::Grant;
using protocol::Instant;
using protocol::NodeId;
using protocol::Token;
using protocol::TracedMessage;
using protocol::TraceItem;
using protocol::TraceMark;

namespace {

constexpr std::size_t head_bytes_max = RecentFailovers::bytes_max / 3;
constexpr std::size_t tail_bytes_max = RecentFailovers::bytes_max - head_bytes_max;
constexpr std::size_t before_max = 8;
constexpr Duration before_age_max = protocol::seconds(1);

enum class Worth : std::uint8_t {
    nothing,    // heartbeats and handshakes
    in_unrest,  // what comes again and again while nothing happens, too
    always,     // what an election begins with
};

Worth worth_of(const protocol::Message& message) {
    return std::visit(
        [](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, protocol::Heartbeat> ||
                          std::is_same_v<What, protocol::Hello> ||
                          std::is_same_v<What, protocol::HelloAck> ||
                          std::is_same_v<What, protocol::Refused>) {
                return Worth::nothing;
            } else if constexpr (std::is_same_v<What, Coordinator>) {
                return what.renew ? Worth::in_unrest : Worth::always;
            } else if constexpr (std::is_same_v<What, CoordinatorToken>) {
                return what.request.renew ? Worth::in_unrest : Worth::always;
            } else if constexpr (std::is_same_v<What, Grant> ||
                                 std::is_same_v<What, protocol::Nack> ||
                                 std::is_same_v<What, protocol::TokenAck>) {
                return Worth::in_unrest;
            } else {
                return Worth::always;
            }
        },
        message);
}

/// Whether the message keeps the leadership of this epoch in office.
bool is_renewal_of(const protocol::Message& message, Epoch epoch) {
    if (const auto* request = std::get_if<Coordinator>(&message))
        return request->renew && request->epoch == epoch;
    if (const auto* grant = std::get_if<Grant>(&message)) return grant->epoch == epoch;
    if (const auto* token = std::get_if<CoordinatorToken>(&message))
        return token->request.renew && token->request.epoch == epoch;
    return false;
}

std::size_t bytes_of(const protocol::Walk& walk) {
    return walk.path.size() * sizeof(protocol::Index);
}

std::size_t bytes_of(const TraceItem& item) {
    std::size_t bytes = sizeof(TraceItem);
    const auto* traced = std::get_if<TracedMessage>(&item);
    if (traced == nullptr) return bytes;
    if (const auto* token = std::get_if<Token>(&traced->message)) bytes += bytes_of(token->walk);
    if (const auto* token = std::get_if<CoordinatorToken>(&traced->message)) {
        bytes += bytes_of(token->walk) + token->grants.size() * sizeof(protocol::TokenGrant) +
                 token->nacks.size() * sizeof(protocol::TokenNack);
    }
    return bytes;
}

}  // namespace

RecentFailovers::RecentFailovers(const protocol::Config& config, protocol::Incarnation incarnation)
    : self_(config.self),
      heartbeat_(config.timing.heartbeat),
      quiet_(config.timing.lease * 2),
      recorder_(config.self, incarnation) {}

void RecentFailovers::add(Instant now, const protocol::Event& event,
                          const std::vector<protocol::Action>& actions,
                          const std::vector<LeaderTurn>& turns) {
    now_ = now;
    recorder_.on_event({now}, event, *this);
    auto turn = turns.begin();
    for (const protocol::Action& action : actions) {
        const bool turns_to = std::holds_alternative<protocol::LeaderChanged>(action);
        turn_ = turns_to ? &*turn++ : nullptr;
        recorder_.on_action({now}, action, *this);
    }
    if (unrest_) end_unrest_if_settled();
}

void RecentFailovers::add(const protocol::TraceEntry& entry, const protocol::Message& message) {
    const Worth worth = worth_of(message);
    if (worth == Worth::nothing || (worth == Worth::in_unrest && !unrest_)) return;
    if (!unrest_) begin_unrest();
    if (is_renewal_of(message, unrest_->from_epoch)) return;
    keep(TracedMessage{entry, message});
}

void RecentFailovers::add(const TraceMark& mark) {
    if (mark.kind == "publish") return;
    const bool loss = (mark.kind == "peer_down" && leader_ && mark.peer == leader_) ||
                      mark.kind == "deposed" || (mark.leader && *mark.leader != leader_);
    const bool stands = mark.role && (*mark.role == protocol::Role::candidate ||
                                      *mark.role == protocol::Role::stepping_down);
    // A leader that is lost at once has a story of its own.
    if (loss && unrest_ && unrest_->found && has_changed()) publish_change();
    if ((loss || stands || mark.kind == "election_started") && !unrest_) begin_unrest();
    if (turn_ != nullptr) on_turn(*turn_);
    if (unrest_) return keep(mark);
    if (before_.size() == before_max) before_.pop_front();
    before_.push_back(mark);
}

void RecentFailovers::on_turn(const LeaderTurn& turn) {
    if (!unrest_) begin_unrest();  // the same leader in a new epoch
    leader_ = turn.what.leader;
    if (!leader_) {
        unrest_->found.reset();
    } else {
        unrest_->found = now_;
        unrest_->before = turn.before.value_or(unrest_->before);
        unrest_->unled_since = turn.what.unled_since.value_or(now_);
        epoch_ = turn.what.epoch;
    }
}

bool RecentFailovers::has_changed() const {
    return leader_ != unrest_->from || epoch_ != unrest_->from_epoch;
}

void RecentFailovers::begin_unrest() {
    Unrest& unrest = unrest_.emplace(Unrest{});
    unrest.from = leader_;
    unrest.from_epoch = leader_ ? epoch_ : Epoch{};
    unrest.began = now_;
    for (const TraceMark& mark : before_) {
        if (now_.boottime_ns - mark.time.at->boottime_ns <= before_age_max.ns) keep(mark);
    }
    before_.clear();
}

void RecentFailovers::keep(TraceItem item) {
    Unrest& unrest = *unrest_;
    const std::size_t bytes = bytes_of(item);
    if (unrest.tail.empty() && unrest.head_bytes + bytes <= head_bytes_max) {
        unrest.head_bytes += bytes;
        unrest.head.push_back(std::move(item));
        return;
    }
    unrest.tail_bytes += bytes;
    unrest.tail.push_back(std::move(item));
    while (unrest.tail_bytes > tail_bytes_max) {
        unrest.tail_bytes -= bytes_of(unrest.tail.front());
        unrest.tail.pop_front();
        ++unrest.left_out;
    }
}

void RecentFailovers::end_unrest_if_settled() {
    const auto over = [&](Instant since, Duration wait) {
        return now_.boottime_ns - since.boottime_ns >= wait.ns;
    };
    if (!has_changed()) {
        if (leader_ && over(unrest_->found.value_or(unrest_->began), quiet_)) unrest_.reset();
    } else if (unrest_->found && over(*unrest_->found, heartbeat_)) {
        publish_change();
    }
}

void RecentFailovers::publish_change() {
    Unrest& unrest = *unrest_;
    auto change = std::make_shared<Failover>();
    change->number = ++count_;
    change->node = self_;
    change->from = unrest.from;
    change->to = leader_;
    change->epoch = epoch_;
    change->before = unrest.before;
    change->found = *unrest.found;
    change->unled_since = unrest.unled_since;
    change->left_out = unrest.left_out;
    change->left_out_before = unrest.head.size();
    change->items.reserve(unrest.head.size() + unrest.tail.size());
    std::move(unrest.head.begin(), unrest.head.end(), std::back_inserter(change->items));
    std::move(unrest.tail.begin(), unrest.tail.end(), std::back_inserter(change->items));
    unrest_.reset();
    if (kept_.size() == failovers_max) kept_.erase(kept_.begin());
    kept_.push_back(std::move(change));
    published_.next() = kept_;
    published_.publish();
}

namespace {

/// Those who look at the lines have to know that some are missing.
void add_gap(std::string& lines, const Failover& failover) {
    const std::string count = std::to_string(failover.left_out) + " messages and events";
    TraceMark gap;
    gap.time = std::visit(
        [](const auto& item) {
            if constexpr (std::is_same_v<std::decay_t<decltype(item)>, TracedMessage>) {
                return item.entry.time;
            } else {
                return item.time;
            }
        },
        failover.items[failover.left_out_before]);
    gap.node = failover.node;
    gap.kind = "left_out";
    gap.reason = count;
    protocol::append_trace_event(lines, gap);
}

}  // namespace

std::string failover_lines(const Failover& failover) {
    std::string lines;
    for (std::size_t place = 0; place < failover.items.size(); ++place) {
        const TraceItem& item = failover.items[place];
        if (failover.left_out > 0 && place == failover.left_out_before) add_gap(lines, failover);
        if (const auto* traced = std::get_if<TracedMessage>(&item)) {
            protocol::append_trace_line(lines, traced->entry, traced->message);
        } else {
            protocol::append_trace_event(lines, std::get<TraceMark>(item));
        }
    }
    return lines;
}

}  // namespace bullring
