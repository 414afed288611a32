#include "protocol/attach/candidacies.hpp"

#include <algorithm>
#include <utility>

namespace bullring::protocol {

namespace {

/// H2.4: what a client may rely on, by the one clock that it reads.
std::int64_t shown(Instant now, Instant until) {
    return now.boottime_ns + std::max(lease_wait(now, until).ns, std::int64_t{0});
}

/// H3.4: so much of its lease a client has left to wind its work up when no renewal comes.
Duration low(const Timing& timing) { return timing.lease / 4; }

}  // namespace

Candidacies::Candidacies(const Timing& timing, bool own_task, bool beside)
    : timing_(timing), without_(own_task || beside ? Work::own : Work::none) {
    if (own_task) waiting_.push_back({});
}

// ---- The node.

/// H1.4, R5.15
Candidacies::Orders Candidacies::on_open() {
    Orders orders;
    tell_work(orders);
    return orders;
}

Candidacies::Orders Candidacies::on_start(Instant now, Epoch epoch) {
    Orders orders;
    leads_ = epoch;
    ending_ = false;
    if (untied_in_ != epoch) untied_until_ = long_ago;
    untied_in_ = epoch;
    choose(now, orders);
    return orders;
}

Candidacies::Orders Candidacies::on_stop(Instant now, Epoch epoch, DeposedReason reason) {
    Orders orders;
    if (epoch != leads_) return orders;
    ending_ = true;
    reason_ = reason;
    if (!working_ || working_->phase == Phase::chosen) {
        put_back(orders);
        finish(orders, false);
    } else if (working_->who.own()) {
        orders.push_back(StopOwn{epoch, reason});
    } else if (working_->phase == Phase::works) {
        // H3.1
        working_->phase = Phase::ends;
        stop_client(now, reason, true, orders);
    }
    return orders;
}

/// H2.2
Candidacies::Orders Candidacies::on_untied(Instant now, Epoch epoch, Instant until) {
    Orders orders;
    if (epoch < untied_in_) return orders;
    // A lease is published before the work under it is to begin.
    if (epoch != untied_in_) untied_until_ = long_ago;
    untied_in_ = epoch;
    const bool later_now = lease_left(untied_until_, until).ns > 0;
    untied_until_ = later(untied_until_, until);
    if (epoch != leads_ || !working_ || working_->who.own()) return orders;
    if (working_->phase == Phase::chosen) {
        begin_if_held(now, orders);
        return orders;
    }
    if (!later_now) return orders;
    if (working_->phase == Phase::works)
        orders.push_back(Hold{working_->who.client, leads_, shown(now, until), false});
    else if (working_->phase == Phase::ends && ending_)
        stop_client(now, reason_, false, orders);
    return orders;
}

Candidacies::Orders Candidacies::on_own_ended(Instant, const TaskEnded& event) {
    Orders orders;
    if (!working_ || !working_->who.own() || event.epoch != leads_) return orders;
    orders.push_back(Tell{event});
    if (own_willing_) waiting_.push_back(working_->who);
    working_.reset();
    leads_ = {};
    tell_work(orders);
    return orders;
}

/// H1.3
Candidacies::Orders Candidacies::on_own_willing(Instant now, bool willing) {
    Orders orders;
    own_willing_ = willing;
    if (!willing) {
        std::erase_if(waiting_, [](const Candidate& one) { return one.own(); });
    } else if (!(working_ && working_->who.own()) &&
               std::none_of(waiting_.begin(), waiting_.end(),
                            [](const Candidate& one) { return one.own(); })) {
        waiting_.push_back({});
    }
    tell_work(orders);
    choose(now, orders);
    return orders;
}

// ---- Clients.

bool Candidacies::on_campaign(Instant now, ClientId client, const Candidacy& candidacy,
                              Orders& orders) {
    const bool stands = std::any_of(waiting_.begin(), waiting_.end(),
                                    [&](const Candidate& one) { return one.client == client; });
    if (stands || (working_ && working_->who.client == client)) return false;
    waiting_.push_back({client, candidacy});
    tell_work(orders);
    choose(now, orders);
    return true;
}

bool Candidacies::on_done(Instant now, ClientId client, bool again, Orders& orders) {
    if (!holds(client)) {
        if (again || !wait_ended(client)) return false;
        tell_work(orders);
        choose(now, orders);
        return true;
    }
    if (again) waiting_.push_back(working_->who);
    finish(orders, false);
    return true;
}

bool Candidacies::on_progress(Instant now, ClientId client) {
    if (!holds(client)) return false;
    working_->progress_at = now;
    return true;
}

/// H3.3
Candidacies::Orders Candidacies::on_ended(Instant now, ClientId client) {
    Orders orders;
    if (holds(client)) {
        finish(orders, true);
    } else if (wait_ended(client)) {
        tell_work(orders);
        choose(now, orders);
    }
    return orders;
}

Candidacies::Orders Candidacies::on_closed(Instant now, ClientId client) {
    if (!holds(client)) return on_ended(now, client);
    Orders orders;
    if (working_->phase == Phase::ends) return orders;
    working_->phase = Phase::ends;
    // H3.5: it can't be told any more, but by its page.
    reason_ = DeposedReason::stalled;
    stop_client(now, reason_, true, orders);
    orders.push_back(Tell{Stalled{}});
    return orders;
}

Candidacies::Orders Candidacies::on_wake(Instant now) {
    Orders orders;
    if (!working_ || working_->who.own() || working_->phase == Phase::chosen) return orders;
    if (working_->phase == Phase::works) {
        const Duration stall_after = working_->who.asks.stall_after;
        if (stall_after.ns > 0 && due(now, working_->progress_at + stall_after)) {
            // H3.6: once.
            working_->progress_at = never;
            orders.push_back(Tell{Stalled{}});
        }
        if (!lease_valid(now, untied_until_ - low(timing_))) {  // H3.4
            working_->phase = Phase::ends;
            working_->give_up_at = untied_until_;
            stop_client(now, DeposedReason::lease_expired, true, orders);
        }
        return orders;
    }
    // H3.2
    if (ending_ && promise_over(now, untied_until_)) {
        finish(orders, false);
    } else if (!ending_ && promise_over(now, working_->give_up_at)) {
        working_->give_up_at = never;
        orders.push_back(Tell{Stalled{}});
    }
    return orders;
}

Duration Candidacies::until_wake(Instant now) const {
    if (!working_ || working_->who.own() || working_->phase == Phase::chosen) return forever;
    Duration left = forever;
    if (working_->phase == Phase::ends) {
        const Instant at = ending_ ? untied_until_ : working_->give_up_at;
        if (at != never) left = promise_left(now, at);
    } else {
        left = lease_wait(now, untied_until_ - low(timing_));
        const Duration stall_after = working_->who.asks.stall_after;
        if (stall_after.ns > 0 && working_->progress_at != never)
            left = std::min(left, elapsed(now, working_->progress_at + stall_after));
    }
    return std::max(left, Duration{0});
}

std::optional<ClientId> Candidacies::works() const {
    if (!working_ || working_->who.own() || working_->phase == Phase::chosen) return std::nullopt;
    return working_->who.client;
}

std::size_t Candidacies::clients() const {
    const auto waiting = std::count_if(waiting_.begin(), waiting_.end(),
                                       [](const Candidate& one) { return !one.own(); });
    return static_cast<std::size_t>(waiting) + (working_ && !working_->who.own() ? 1 : 0);
}

// ---- The rules.

/// H1.1, H1.2
void Candidacies::choose(Instant now, Orders& orders) {
    if (working_ || !leads_ || ending_) return;
    if (waiting_.empty()) return;
    working_.emplace(Working{waiting_.front()});
    waiting_.pop_front();
    if (working_->who.own()) {
        working_->phase = Phase::works;
        orders.push_back(StartOwn{leads_});
        return;
    }
    begin_if_held(now, orders);
}

/// H2.1: with more left than it keeps to wind its work up; the next renewal brings it.
void Candidacies::begin_if_held(Instant now, Orders& orders) {
    if (!working_ || working_->phase != Phase::chosen || ending_) return;
    const Instant latest = untied_until_ - low(timing_) - timing_.heartbeat;
    if (!lease_valid(now, latest)) return;
    working_->phase = Phase::works;
    working_->progress_at = now;
    orders.push_back(Hold{working_->who.client, leads_, shown(now, untied_until_), true});
}

void Candidacies::stop_client(Instant now, DeposedReason reason, bool first, Orders& orders) const {
    orders.push_back(Stop{working_->who.client, leads_, reason, shown(now, untied_until_), first});
}

/// It has not begun: it is the first for the next leadership.
void Candidacies::put_back(Orders& orders) {
    if (!working_) return;
    waiting_.push_front(working_->who);
    working_.reset();
    tell_work(orders);
}

/// H2.3, H3.2: nothing works under the leadership any more.
void Candidacies::finish(Orders& orders, bool failed) {
    // One that has been told to end does so for that, whichever way.
    const bool by_itself = working_ && working_->phase == Phase::works;
    if (working_) orders.push_back(Release{working_->who.client, leads_});
    working_.reset();
    const Epoch over = std::exchange(leads_, {});
    tell_work(orders);
    orders.push_back(Tell{TaskEnded{over, by_itself, by_itself && failed}});
}

/// H1.4, H1.5, H2.1: before the next one works, so that all know when it does, and what elects this
/// node holds without its sessions.
void Candidacies::tell_work(Orders& orders) {
    const Candidate* const next = working_           ? &working_->who
                                  : waiting_.empty() ? nullptr
                                                     : &waiting_.front();
    const bool tied = next == nullptr || next->own();
    if (std::exchange(tied_, tied) != tied) orders.push_back(Tell{Tying{tied}});
    WorkChanged work{clients() > 0 ? Work::asked : without_,
                     next != nullptr ? next->asks.advertised : std::string()};
    if (work == told_) return;
    told_ = work;
    orders.push_back(Tell{std::move(work)});
}

bool Candidacies::holds(ClientId client) const {
    return working_ && working_->phase != Phase::chosen && working_->who.client == client &&
           !working_->who.own();
}

/// One that stands, or is chosen, does so no more.
bool Candidacies::wait_ended(ClientId client) {
    const auto is_it = [&](const Candidate& one) { return one.client == client; };
    if (working_ && is_it(working_->who)) {
        working_.reset();
        return true;
    }
    return std::erase_if(waiting_, is_it) > 0;
}

}  // namespace bullring::protocol
