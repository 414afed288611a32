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
#include "src/base/os/tcp.hpp"
#include "src/observe/asking.hpp"
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

bool is_everywhere(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

std::string asked_text(const NodeOptions& options) {
    std::string text;
    for (const Endpoint& one : options.join) text += (text.empty() ? "" : ", ") + to_text(one);
    return text;
}

std::string why_nobody_tells(const std::vector<MemberAnswer>& answers) {
    std::string text;
    for (const MemberAnswer& one : answers)
        text += (text.empty() ? "" : "; ") + one.address + ": " +
                (one.answer ? "no list of members yet" : one.problem);
    return text;
}

}  // namespace

Joiner::Joiner(const NodeOptions& options, protocol::Incarnation self,
               std::shared_ptr<const TlsSource> security, NodeLink& node)
    : options_(options),
      self_(self),
      node_(node),
      list_(options.config.members),
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

void Joiner::leader_changed(Instant at, const protocol::LeaderChanged& change) {
    if (follows_) led_until_ = at;
    follows_ = bool(change.leader);
}

void Joiner::members_changed(Instant at, const protocol::MembersChanged& change) {
    // A node that was forgotten has been cut off for so long; any other was removed on purpose.
    const Duration forget_after = options_.config.forget_after;
    const bool has_leader = follows_ || forget_after.ns == 0 || !due(at, led_until_ + forget_after);
    asio::post(loop_->io, [this, list = change.members, has_leader] { on_list(list, has_leader); });
}

void Joiner::on_list(const Membership& list, bool has_leader) {
    const protocol::NodeId self = options_.config.self;
    const bool was_in = list_.find(self) != nullptr;
    list_ = list;
    if (!was_in || list.find(self) != nullptr) return;
    if (has_leader && !stood_still()) {
        if (!wanted_)
            log(LogLevel::warn,
                "it was removed, and stays out until it is started again: end it, or start it "
                "again to have it added");
        return;
    }
    log(LogLevel::info, "it was forgotten while it reached nobody, and asks to be added again");
    wanted_ = true;
    pause_ = pause_first;
    timer_.cancel();
}

/// Of late, for so long that it may have been forgotten: what it knows of its leader is what it
/// knew before.
bool Joiner::stood_still() const {
    const Duration forget_after = options_.config.forget_after;
    const protocol::Timing& timing = options_.config.timing;
    // It keeps its promise to its leader before it takes another list.
    const Duration learns_within = timing.promise(timing.lease) + protocol::redial_max;
    const Instant now = read_clock();
    return forget_after.ns > 0 &&
           (due(now, looked_at_ + forget_after / 2) || !due(now, stood_at_ + learns_within));
}

// ---- Asking.

asio::awaitable<void> Joiner::run() {
    while (true) {
        if (wanted_) {
            tell(co_await ask());
            // Before the leader has told it who the members are it may be forgotten without
            // learning of it.
            wanted_ = !told_.empty() || list_.find(options_.config.self) == nullptr;
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
        if (due(now, looked_at_ + options_.config.forget_after / 2)) stood_at_ = now;
        looked_at_ = now;
        if (wanted_ && std::chrono::steady_clock::now() >= again) co_return;
    }
}

void Joiner::tell(const std::string& obstacle) {
    if (obstacle == told_) return;
    node_.set_joining(obstacle);
    if (!obstacle.empty()) log(LogLevel::warn, obstacle + "; it goes on asking");
    told_ = obstacle;
}

std::vector<Endpoint> Joiner::addresses() const {
    std::vector<Endpoint> all = options_.join;
    for (const Membership* const list : {&list_, &told_list_})
        for (const MemberEntry& member : list->entries()) {
            const auto endpoint = parse_endpoint(member.address);
            if (endpoint && member.id != options_.config.self &&
                std::find(all.begin(), all.end(), *endpoint) == all.end())
                all.push_back(*endpoint);
        }
    return all;
}

asio::awaitable<std::string> Joiner::ask() {
    const std::string asks = "asks " + asked_text(options_) + " to be added: ";
    const std::vector<MemberAnswer> answers =
        co_await ask_anybody(*loop_, addresses(), options_.config.cluster, deadline_in(round_max));
    if (newest_list(answers).empty()) co_return asks + why_nobody_tells(answers);
    told_list_ = newest_list(answers);
    const Wishes wanted = wishes(answers);
    if (!wanted) co_return asks + wanted.error();

    ObserverOptions cluster{{}, options_.config.cluster, options_.security, {}};
    cluster.log.level = LogLevel::error;  // what refusals say is told by the outcome
    for (const MemberEntry& member : newest_list(answers).entries())
        if (const auto endpoint = parse_endpoint(member.address);
            endpoint && member.id != options_.config.self)
            cluster.peers.emplace(member.id, *endpoint);
    for (const MemberAnswer& one : answers)
        if (const auto endpoint = parse_endpoint(one.address); one.answer && endpoint)
            cluster.peers.insert_or_assign(one.id, *endpoint);

    for (const MemberChange& change : *wanted) {
        RemoteCluster members(*loop_, cluster, change_max);
        // Named: g++ 12 destroys a temporary of such an expression twice.
        std::vector<MemberChange> one{change};
        const Outcome outcome = co_await change_members(members, std::move(one), change_max);
        const bool promotes = change.what == MemberChange::What::promote;
        if (outcome.exit_status != 0)
            co_return (promotes ? "asks for a vote: " : asks) + outcome.text;
        log(LogLevel::info, outcome.text);
    }
    co_return std::string();
}

Joiner::Wishes Joiner::wishes(const std::vector<MemberAnswer>& answers) const {
    const protocol::NodeId self = options_.config.self;
    for (const MemberAnswer& one : answers)
        if (one.id == self && one.answer && one.incarnation != self_)
            return tl::unexpected(
                fmt::format("another process is node {}, at {}; end it, or give this one an --id "
                            "of its own",
                            self.value, one.address));
    const auto address = own_address(answers);
    if (!address) return tl::unexpected(address.error());
    const Membership list = newest_list(answers);
    const MemberEntry* const entry = list.find(self);
    std::vector<MemberChange> all;
    if (entry == nullptr)
        all.push_back({MemberChange::What::add, self, *address});
    else if (entry->address != *address)
        all.push_back({MemberChange::What::address, self, *address});
    if (options_.voter && (entry == nullptr || !entry->votes))
        all.push_back({MemberChange::What::promote, self, {}});
    return all;
}

/// How the others are to dial this node.
tl::expected<std::string, std::string> Joiner::own_address(
    const std::vector<MemberAnswer>& answers) const {
    if (options_.join_as.port != 0) return to_text(options_.join_as);
    const Endpoint& listen = options_.listen;
    const bool by_loopback =
        std::all_of(answers.begin(), answers.end(), [](const MemberAnswer& one) {
            return !one.answer || is_loopback(tcp::host_of(one.answer->asked_from));
        });
    if (!is_everywhere(listen.host)) {
        if (is_loopback(listen.host) && !by_loopback)
            return tl::unexpected(to_text(listen) +
                                  " is reached from this machine alone; give --listen an address "
                                  "that the others reach");
        return to_text(listen);
    }
    for (const MemberAnswer& one : answers) {
        if (!one.answer || one.answer->asked_from.empty()) continue;
        const std::string seen = to_text({tcp::host_of(one.answer->asked_from), listen.port});
        // The members may see it at several addresses: one that the list has already stays.
        const MemberEntry* const entry = newest_list(answers).find(options_.config.self);
        const bool known =
            entry != nullptr && std::any_of(answers.begin(), answers.end(), [&](const auto& other) {
                return other.incarnation == self_ && other.address == entry->address;
            });
        return known ? entry->address : seen;
    }
    return tl::unexpected(
        std::string("nobody says at which address it sees this node; give --join-as HOST:PORT"));
}

}  // namespace bullring
