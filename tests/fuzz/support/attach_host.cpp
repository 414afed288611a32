#include "tests/fuzz/attach_host.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace bullring::fuzz {

using namespace protocol;

namespace {

constexpr std::size_t clients_max = 32;
constexpr ClientId own{};

Timing drawn_timing(Input& input) {
    Timing timing{};
    timing.lease = input.one_of({milliseconds(800), microseconds(10), seconds(10)});
    timing.heartbeat = timing.lease / 8;
    return timing;
}

}  // namespace

AttachHost::AttachHost(Input& input)
    : input_(input),
      timing_(drawn_timing(input)),
      own_task_(input.flag()),
      beside_(input.flag()),
      candidacies_(timing_, own_task_, beside_) {
    if (own_task_) order_.push_back(own);
    obey(candidacies_.on_open());
}

void AttachHost::run() {
    while (!input_.empty()) {
        happen();
        check();
    }
    if (leads_) stop(leads_, DeposedReason::stopped);
    if (own_runs_) own_ended(leads_, false, false);
    for (int rounds = 0; leads_ && rounds < 200; ++rounds) {
        now_ = now_ + candidacies_.until_wake(now_);
        wake();
    }
    expect(!leads_, "a leadership that was to end does not");
}

// ---- What can happen.

void AttachHost::happen() {
    work_over_ = closed_now_ = asked_now_ = false;
    switch (input_.below(12)) {
        case 0: return pass_time();
        case 1: return wake();
        case 2: return start();
        case 3:
            return stop({last_.value - input_.below(2)},
                        input_.one_of({DeposedReason::resigned, DeposedReason::stalled}));
        case 4: return untied();
        case 5: return own_ended({last_.value - input_.below(2)}, input_.flag(), input_.flag());
        case 6: return own_willing(input_.flag());
        case 7:
            if (clients_.size() == clients_max) return;
            return campaign(clients_.emplace_back(Client{{clients_.size() + 1}}));
        default: break;
    }
    if (!clients_.empty()) happen_to(clients_[input_.below(clients_.size())]);
}

void AttachHost::happen_to(Client& client) {
    const std::size_t what = input_.below(5);
    if (what == 3 && client.connected) return closed(client);
    if (what == 4 && client.lives) return ended(client);
    if (!client.connected || !client.lives) return;
    if (what == 0) return campaign(client);
    if (what == 1) return done(client, input_.flag());
    expect(candidacies_.on_progress(now_, client.id) == client.works,
           "progress counts of the one that works");
    client.progress_at = now_;
}

/// Both clocks rise, at times one alone, and up to more than a lease.
void AttachHost::pass_time() {
    const Duration step = timing_.lease * input_.number() / 64;
    const std::size_t kind = input_.below(8);
    const Instant both = now_ + step + Duration{kind == 0 ? 1 : 0};
    if (kind != 1) now_.boottime_ns = both.boottime_ns;
    if (kind != 2) now_.raw_ns = both.raw_ns;
    asked_at_[input_.below(asked_at_.size())] = now_;
}

void AttachHost::start() {
    if (leads_) return;
    last_ = {last_.value + 1};
    ending_ = false;
    untied_ = long_ago;
    if (input_.below(2) == 0) {  // published before
        untied_ = asked_at_[input_.below(asked_at_.size())] + timing_.lease;
        obey(candidacies_.on_untied(now_, last_, untied_));
    }
    leads_ = last_;
    obey(candidacies_.on_start(now_, leads_));
}

void AttachHost::stop(Epoch epoch, DeposedReason reason) {
    // The node asks for an end once.
    if (!epoch || (epoch == leads_ && ending_)) return;
    if (epoch == leads_) {
        ending_ = true;
        reason_ = reason;
    }
    obey(candidacies_.on_stop(now_, epoch, reason));
}

void AttachHost::untied() {
    const Instant until = asked_at_[input_.below(asked_at_.size())] + timing_.lease;
    if (leads_) untied_ = later(untied_, until);
    obey(candidacies_.on_untied(now_, last_, until));
}

void AttachHost::own_ended(Epoch epoch, bool by_itself, bool failed) {
    if (!own_runs_ && epoch == leads_) return;
    if (epoch == leads_) {
        own_runs_ = false;
        if (own_willing_) order_.push_back(own);
        work_over_ = true;
    }
    by_itself = by_itself && !ending_;
    obey(candidacies_.on_own_ended(now_, {epoch, by_itself, by_itself && failed}));
}

void AttachHost::own_willing(bool willing) {
    if (!own_task_) return;
    own_willing_ = willing;
    if (!willing)
        leave_order(own);
    else if (!own_runs_ && !waits(own))
        order_.push_back(own);
    obey(candidacies_.on_own_willing(now_, willing));
}

void AttachHost::campaign(Client& client) {
    const Candidacy asks{input_.one_of({Duration{0}, timing_.lease / 4, timing_.lease * 2}),
                         input_.one_of({"", "a:1", "b:2"})};
    const bool may = !client.works && !waits(client.id);
    if (may) {
        client.asks = asks;
        order_.push_back(client.id);
    }
    Candidacies::Orders orders;
    expect(candidacies_.on_campaign(now_, client.id, asks, orders) == may,
           "a connection has one candidacy at a time");
    expect(may || orders.empty(), "what is refused has an effect");
    obey(orders);
}

void AttachHost::done(Client& client, bool again) {
    const bool may = client.works || (!again && waits(client.id));
    work_over_ = client.works;
    if (may && !client.works) leave_order(client.id);
    if (client.works && again) order_.push_back(client.id);
    Candidacies::Orders orders;
    expect(candidacies_.on_done(now_, client.id, again, orders) == may, "who may say that it ends");
    expect(may || orders.empty(), "what is refused has an effect");
    obey(orders);
    expect(!client.works, "one that has said that its work has ended is not released");
}

void AttachHost::ended(Client& client) {
    client.lives = client.connected = false;
    work_over_ = client.works;
    leave_order(client.id);
    obey(candidacies_.on_ended(now_, client.id));
    expect(!client.works, "one whose process has ended is not released");
}

void AttachHost::closed(Client& client) {
    client.connected = false;
    closed_now_ = client.works;
    leave_order(client.id);
    obey(candidacies_.on_closed(now_, client.id));
    expect(!client.works || client.told_to_end, "one without a connection leads on");
}

/// Until there is nothing left to do, which is soon.
void AttachHost::wake() {
    for (int rounds = 0; rounds == 0 || candidacies_.until_wake(now_).ns <= 0; ++rounds) {
        expect(rounds < 4, "it is awake all the time");
        obey(candidacies_.on_wake(now_));
    }
    expect(candidacies_.on_wake(now_).empty(), "there was something to do before it was time");
    const Client* const works = worker();
    if (works == nullptr) return;
    expect(works->told_to_end || lease_valid(now_, untied_ - timing_.lease / 4),
           "one whose lease is short is not told to end");
    expect(works->told_to_end || !has_stalled(*works), "a stall is not told");
    expect(!ending_ || !promise_over(now_, untied_), "a lease that is over is waited for");
    expect(ending_ || !promise_over(now_, works->give_up_at), "the node is not told to give up");
}

// ---- What is ordered.

void AttachHost::obey(const Candidacies::Orders& orders) {
    for (const Candidacies::Order& order : orders)
        std::visit([this](const auto& what) { judge(what); }, order);
}

void AttachHost::judge(const Candidacies::Hold& order) {
    Client& client = clients_.at(order.client.value - 1);
    expect(client.lives && client.connected, "one that is gone is told to work");
    expect(leads_ && order.epoch == leads_ && !ending_, "one works without a leadership");
    expect(!own_runs_ && (worker() == nullptr || worker() == &client), "two work");
    expect(!tied_, "one works under a lease that may be released without it");
    expect(work_.work == Work::asked && work_.advertised == client.asks.advertised,
           "one works that is not advertised");
    expect(order.first == !client.works && !client.told_to_end, "one works that has to end");
    check_shown(order.valid_until_ns);
    if (!order.first) return;
    expect(!order_.empty() && order_.front() == client.id, "it is not its turn");
    expect(lease_valid(now_, untied_ - timing_.lease / 4 - timing_.heartbeat),
           "one begins that has no time to end");
    order_.pop_front();
    client.works = true;
    client.progress_at = now_;
}

void AttachHost::judge(const Candidacies::Stop& order) {
    Client& client = clients_.at(order.client.value - 1);
    expect(client.works && client.lives && order.epoch == leads_,
           "one has to end that does not work");
    expect(order.first == !client.told_to_end, "the first word to end is not the first");
    check_shown(order.by_ns);
    if (!order.first)
        return expect(order.reason == reason_ && ending_, "an end that nobody asked for");
    const bool is_short = !lease_valid(now_, untied_ - timing_.lease / 4);
    const bool why = closed_now_ ? order.reason == DeposedReason::stalled
                     : ending_   ? order.reason == reason_
                                 : is_short && order.reason == DeposedReason::lease_expired;
    expect(why, "one has to end for no reason, or for another one");
    client.told_to_end = true;
    if (!ending_ && !closed_now_) client.give_up_at = untied_;
}

void AttachHost::judge(const Candidacies::Release& order) {
    Client& client = clients_.at(order.client.value - 1);
    expect(client.works && order.epoch == leads_, "one is released that does not work");
    expect(work_over_ || (ending_ && promise_over(now_, untied_)),
           "one is released that may still work");
    client.works = false;
    asked_now_ = client.told_to_end;
    client.told_to_end = false;
    client.give_up_at = never;
}

void AttachHost::judge(const Candidacies::StartOwn& order) {
    expect(leads_ && order.epoch == leads_ && !ending_, "its own task works without a leadership");
    expect(!own_runs_ && worker() == nullptr, "two work, one of them its own task");
    expect(own_willing_, "its own task works that has nobody to do it");
    expect(!order_.empty() && order_.front() == own, "it is not the turn of its own task");
    expect(tied_, "its own task works, and grants are asked for as for a client");
    order_.pop_front();
    own_runs_ = true;
}

void AttachHost::judge(const Candidacies::StopOwn& order) {
    expect(own_runs_ && ending_ && order.epoch == leads_ && order.reason == reason_,
           "its own task has to end for no reason");
}

void AttachHost::judge(const Candidacies::Tell& order) {
    std::visit(
        [this](const auto& event) {
            if constexpr (requires { judge_event(event); })
                judge_event(event);
            else
                expect(false, "the node is told what is none of this");
        },
        order.event);
}

void AttachHost::judge_event(const TaskEnded& event) {
    expect(leads_ && event.epoch == leads_, "an end is told of no leadership, or twice");
    expect(worker() == nullptr && !own_runs_, "an end is told while one works");
    expect(work_over_ || ending_, "a leadership ends for no reason");
    expect(!event.by_itself || (!ending_ && !asked_now_),
           "an end that was asked for comes by itself");
    expect(!event.failed || event.by_itself, "an end that was asked for has failed");
    leads_ = {};
}

void AttachHost::judge_event(const Stalled&) {
    Client* const works = worker();
    expect(works != nullptr, "nobody works, and stalls");
    const bool stalled = has_stalled(*works);
    if (stalled) works->progress_at = never;
    const bool gives_up = !ending_ && promise_over(now_, works->give_up_at);
    if (gives_up) works->give_up_at = never;
    expect(closed_now_ || stalled || gives_up, "a stall is told that is none");
}

void AttachHost::judge_event(const Tying& event) {
    expect(event.tie != tied_, "the node is told again how to ask for grants");
    tied_ = event.tie;
}

void AttachHost::judge_event(const WorkChanged& event) {
    expect(event != work_, "the node is told of its work again");
    work_ = event;
}

// ---- What must hold after each event.

void AttachHost::check() const {
    const Client* const works = worker();
    const auto waiting =
        std::count_if(order_.begin(), order_.end(), [](ClientId id) { return id != own; });
    const auto count = static_cast<std::size_t>(waiting) + (works != nullptr ? 1 : 0);
    expect(candidacies_.clients() == count, "how many clients stand");
    expect(candidacies_.works() == (works != nullptr ? std::optional(works->id) : std::nullopt),
           "which client works");
    expect(works == nullptr || leads_, "one works without a leadership");
    const Work without = own_task_ || beside_ ? Work::own : Work::none;
    expect(work_.work == (count > 0 ? Work::asked : without), "for whom the node says to stand");
    const ClientId next = works != nullptr              ? works->id
                          : own_runs_ || order_.empty() ? own
                                                        : order_.front();
    const std::string advertised =
        next == own ? std::string() : clients_[next.value - 1].asks.advertised;
    expect(work_.advertised == advertised, "another one is advertised");
    expect(tied_ == (next == own), "grants are asked for as nobody needs them");
    if (!leads_ || ending_ || works != nullptr || own_runs_) return;
    expect(order_.empty() || next != own, "the node leads, and its own task waits");
    expect(order_.empty() || !lease_valid(now_, untied_ - timing_.lease / 4 - timing_.heartbeat),
           "the lease stands, and a client waits");
}

/// H2.4
void AttachHost::check_shown(std::int64_t until_ns) const {
    const std::int64_t left = std::max<std::int64_t>(lease_left(now_, untied_).ns, 0);
    const std::int64_t shown = until_ns - now_.boottime_ns;
    expect(shown >= 0 && shown <= left, "a client is told of more than its lease");
    expect(left <= microseconds(200).ns || shown * 8 <= left * 7 + 8,
           "a client that reads one clock would act for too long");
}

bool AttachHost::has_stalled(const Client& client) const {
    const Duration allowed = client.asks.stall_after;
    return !client.told_to_end && allowed.ns > 0 && client.progress_at != never &&
           elapsed(client.progress_at, now_) >= allowed;
}

const AttachHost::Client* AttachHost::worker() const {
    const auto found = std::find_if(clients_.begin(), clients_.end(),
                                    [](const Client& client) { return client.works; });
    return found == clients_.end() ? nullptr : &*found;
}

bool AttachHost::waits(ClientId id) const {
    return std::find(order_.begin(), order_.end(), id) != order_.end();
}

}  // namespace bullring::fuzz
