#include "src/observe/joiner.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "protocol/values/dialling.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/node/report/refusal_text.hpp"
#include "src/observe/asking.hpp"
#include "src/observe/join_plan.hpp"
#include "src/observe/member_changing.hpp"
#include "src/observe/reached_cluster.hpp"

namespace bullring {
namespace {

using protocol::Duration;
using protocol::Instant;
using protocol::MemberChange;
using protocol::MemberEntry;
using protocol::Membership;

constexpr Duration pause_first = protocol::milliseconds(100);
constexpr Duration pause_last = protocol::seconds(5);

/// So often it is noted that this process runs.
Duration look_every(Duration forget_after) {
    constexpr Duration shortest = protocol::milliseconds(10);
    constexpr Duration longest = protocol::milliseconds(500);
    return forget_after.ns == 0 ? longest : std::clamp(forget_after / 4, shortest, longest);
}

/// A leader that can't settle a change undoes it within this time.
constexpr Duration change_max = protocol::seconds(10);

/// A node that is added is dialled at once.
constexpr Duration told_max = protocol::seconds(3);
/// A standstill that is shorter makes nobody forget.
constexpr Duration standstill_min = protocol::seconds(1);

std::string asked_text(const NodeOptions& options) {
    std::string text;
    for (const Endpoint& one : options.join) text += (text.empty() ? "" : ", ") + to_text(one);
    return text;
}

}  // namespace

Joiner::Joiner(const NodeOptions& options, protocol::Incarnation self, KnownCluster known,
               std::shared_ptr<const TlsSource> security, NodeLink& node)
    : options_(options),
      self_(self),
      node_(node),
      mark_(options.data_dir),
      known_(std::move(known)),
      rng_(random_bits()),
      pause_(pause_first),
      looked_at_(read_clock()) {
    loop_->security = std::move(security);
    asio::co_spawn(loop_->io, run(), [](const std::exception_ptr& failure) {
        if (failure) std::rethrow_exception(failure);
    });
    thread_ = quiet_thread([this, id = options.config.self] {
        log_as(id);
        loop_->io.run();
    });
}

Joiner::~Joiner() {
    loop_->io.stop();
    thread_.join();
    // A name is still being looked up, which nothing can stop, in a thread that uses the loop.
    if (loop_->lookups != 0) static_cast<void>(loop_.release());
}

// ---- What the node tells.

void Joiner::leader_changed(Instant /*at*/, const protocol::LeaderChanged& change) {
    if (change.leader) leader_ = change.leader;
}

void Joiner::peer_changed(Instant at, protocol::NodeId peer, bool up) {
    Hearing& hearing = hearing_[peer];
    if (up && hearing.until != protocol::never) hearing.since = at;
    hearing.until = up ? protocol::never : at;
}

void Joiner::handshake_refused(Instant /*at*/, const protocol::HandshakeRefused& refusal) {
    asio::post(loop_->io, [this, refusal] {
        const protocol::NodeId self = options_.config.self;
        const WayToStart way = way_to_start(options_, !known_.list.empty());
        if (told_list_.find(refusal.peer) == nullptr || remedy(refusal, self, way).empty()) return;
        refusal_ = fmt::format("{} {}: {}", refusal.by_us ? "refuses node" : "is refused by node",
                               refusal.peer.value, refusal_text(refusal, self, way));
    });
}

/// A node learns so late that it was removed: it keeps its promise to its leader before it takes
/// another list. But who was silent for half the time in which it is forgotten was not heard.
Duration Joiner::learns_within() const {
    const protocol::Timing& timing = options_.config.timing;
    const Duration longest = timing.promise(timing.lease) + protocol::redial_max;
    const Duration forget_after = options_.config.forget_after;
    return forget_after.ns == 0 ? longest : std::min(longest, forget_after / 2);
}

/// A leader undoes a list that took longer (PROTOCOL C2.3).
Duration Joiner::settled_within() const { return options_.config.timing.lease * 2; }

void Joiner::members_changed(Instant at, const protocol::MembersChanged& change) {
    // Its leader heard it until now, and so has not forgotten it: somebody has removed it. But a
    // list without one that had just come back may have been on its way.
    const auto heard = hearing_.find(leader_);
    const bool on_purpose = heard != hearing_.end() &&
                            due(at, heard->second.since + settled_within()) &&
                            !due(at, heard->second.until + learns_within());
    asio::post(loop_->io, [this, known = KnownCluster{change.members, change.cluster_id},
                           on_purpose] { on_list(known, on_purpose); });
}

void Joiner::on_list(const KnownCluster& known, bool on_purpose) {
    const protocol::NodeId self = options_.config.self;
    const MemberEntry* const before = known_.list.find(self);
    const bool was_in = before != nullptr;
    const bool forgotten_never = was_in && is_forgotten_never(*before, options_);
    known_.list = known.list;
    known_.id = known.id;
    if (const MemberEntry* const entry = known.list.find(self)) {
        if (known_.removed) return come_back();
        if (address_.empty() || entry->address == address_) return;
        ask_again("the list has another address of it");
    } else if (was_in && (forgotten_never || (on_purpose && !stood_still()))) {
        stay_out();
    } else if (was_in) {
        ask_again("it was forgotten while it was cut off");
    }
}

void Joiner::stay_out() {
    if (known_.removed && !wanted_) return;
    log(LogLevel::warn, "it was removed, and stays out until it is added again (" +
                            added_again_by(options_, address_) + "); end it, if it is to be gone");
    if (const std::string problem = mark_.set(); !problem.empty())
        log(LogLevel::warn,
            "the next start may have it added again, for it can't note that: " + problem);
    known_.removed = true;
    wanted_ = false;
    tell({});
}

/// It has been added: how, it may want to have changed.
void Joiner::come_back() {
    known_.removed = false;
    clear_mark();
    ask_again("it was added again");
}

void Joiner::clear_mark() const {
    if (const std::string problem = mark_.clear(); !problem.empty())
        log(LogLevel::warn, "delete the file that says that it was removed: " + problem);
}

void Joiner::ask_again(const char* why) {
    if (wanted_) return;
    log(LogLevel::info, std::string(why) + ", and asks the members again");
    wanted_ = true;
    pause_ = pause_first;
    timer_.cancel();
}

/// Of late, for so long that it may have been forgotten: it knows of its leader what it knew
/// before.
bool Joiner::stood_still() const {
    const Instant now = read_clock();
    return due(now, looked_at_ + standstill()) || !due(now, stood_at_ + learns_within());
}

Duration Joiner::standstill() const {
    const Duration forget_after = options_.config.forget_after;
    return forget_after.ns == 0 ? standstill_min : std::min(standstill_min, forget_after / 2);
}

// ---- Asking.

asio::awaitable<void> Joiner::run() {
    if (known_.removed)
        stay_out();
    else if (known_.list.find(options_.config.self) != nullptr)
        clear_mark();  // it had no time for that when it came back
    while (true) {
        if (wanted_) {
            std::string obstacle = co_await ask();
            // Before the leader has told it who the members are it may be forgotten without
            // learning of it.
            const bool is_told = known_.list.find(options_.config.self) != nullptr;
            if (is_told) told_until_.reset();
            if (obstacle.empty() && !is_told) obstacle = why_not_told();
            if (!known_.removed) tell(obstacle);
            wanted_ = !known_.removed && (!obstacle.empty() || !is_told);
        }
        co_await pause();
    }
}

asio::awaitable<void> Joiner::pause() {
    const Deadline again = deadline_in(pause_ + rng_.up_to(pause_ / 2));
    if (wanted_) pause_ = std::min(pause_ * 2, pause_last);
    while (true) {
        const Deadline next = deadline_in(look_every(options_.config.forget_after));
        timer_.expires_at(wanted_ ? std::min(again, next) : next);
        asio::error_code ignored;
        co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        const Instant now = read_clock();
        if (due(now, looked_at_ + standstill())) stood_at_ = now;
        looked_at_ = now;
        if (wanted_ && std::chrono::steady_clock::now() >= again) co_return;
    }
}

std::string Joiner::why_not_told() {
    if (!told_until_) {
        told_until_ = deadline_in(told_max);
        refusal_.clear();  // it was none of them yet
    }
    if (std::chrono::steady_clock::now() < *told_until_) return {};
    if (!refusal_.empty()) return "it is a member, and " + refusal_;
    return "it is a member, and the leader does not reach it at " + address_ +
           "; give --join-as HOST:PORT, where the others dial it";
}

void Joiner::tell(const std::string& obstacle) {
    if (obstacle == told_) return;
    node_.set_joining(obstacle);
    if (!obstacle.empty()) log(LogLevel::warn, obstacle + "; it goes on asking");
    told_ = obstacle;
}

// Outside of the coroutine: g++ 12 cannot have such lists in one.
std::vector<Endpoint> Joiner::addresses() const {
    return asked_to_join(options_, {known_.list, told_list_});
}
tl::expected<JoinPlan, Obstacle> Joiner::plan(const std::vector<MemberAnswer>& answers) const {
    return plan_joining({options_, self_, known_}, answers);
}

asio::awaitable<std::string> Joiner::ask() {
    const std::string asks = "asks " + asked_text(options_) + " to be added: ";
    const std::vector<MemberAnswer> answers =
        co_await ask_anybody(*loop_, addresses(), options_.config.cluster, deadline_in(round_max));
    const auto plan = this->plan(answers);
    if (!plan) co_return asks + to_text(plan.error());
    told_list_ = plan->list;
    address_ = plan->address;
    if (plan->was_removed) {
        stay_out();
        co_return std::string();
    }

    ObserverOptions cluster{{}, options_.config.cluster, options_.security, {}};
    cluster.log.level = LogLevel::error;  // what refusals say is told by the outcome
    // It may lead itself, and the list need not have its address.
    if (const auto own = parse_endpoint(address_))
        cluster.peers.emplace(options_.config.self, *own);
    for (const MemberEntry& member : told_list_.entries())
        if (const auto endpoint = parse_endpoint(member.address);
            endpoint && member.id != options_.config.self)
            cluster.peers.emplace(member.id, *endpoint);
    for (const MemberAnswer& one : plan->answers)
        if (const auto endpoint = parse_endpoint(one.address); one.answer && endpoint)
            cluster.peers.insert_or_assign(one.id, *endpoint);

    for (const MemberChange& change : plan->changes) {
        if (known_.removed) break;  // somebody has removed it meanwhile
        RemoteCluster members(*loop_, cluster, change_max);
        // Named: g++ 12 destroys a temporary of such an expression twice.
        std::vector<MemberChange> one{change};
        const Outcome outcome =
            co_await change_members(members, std::move(one), change_max, plan->cluster_id);
        const bool promotes = change.what == MemberChange::What::promote;
        if (outcome.exit_status != 0)
            co_return (promotes ? "asks for a vote: " : asks) + outcome.text;
        log(LogLevel::info, outcome.text);
    }
    co_return std::string();
}

}  // namespace bullring
