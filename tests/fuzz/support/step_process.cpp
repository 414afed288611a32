// The node's process, what it does, and what must hold of that.
#include "protocol/values/algorithms.hpp"
#include "tests/fuzz/step_host.hpp"

namespace bullring::fuzz {

namespace {

/// The highest epoch to which a message may raise one (§5) in a run of this length, and the
/// reserves on top of it.
constexpr Epoch highest_epoch{(std::uint64_t{1} << 60U) + (std::uint64_t{1} << 32U)};
constexpr std::size_t actions_max = 1000;
constexpr std::size_t wakes_max = 100;

}  // namespace

Host::Host(Input& input) : input_(input) {
    const std::size_t members = input.one_of({3UL, 1UL, 2UL, 5UL});
    std::vector<NodeId> ids;
    for (std::size_t i = 1; i <= members; ++i) ids.push_back({i});
    Config& config = seen_.config;
    config.self = ids[members - 1 - input.below(members)];
    config.members = Membership(ids);
    config.algorithm = input.flag() ? Algorithm::ring : Algorithm::bully;
    config.preempt = algorithm_row(config.algorithm).preempts;
    TimingRequest request;
    request.lease_max = seconds(2);
    config.timing = make_timing(request, members, config.algorithm);
    config.bootstrap_wait = milliseconds(500);
    config.tie = !input.flag();
    config.fast_release =
        input.one_of({FastRelease::fin, FastRelease::notice, FastRelease::fin, FastRelease::off});
    config.hooks = input.flag();
    const std::size_t versions = input.number();
    config.first_epoch = (versions & 1U) != 0 ? FirstEpoch::clock : FirstEpoch::zero;
    if ((versions & 2U) != 0) config.wire_highest = version_lowest;
    for (const NodeId id : ids)
        if (id != config.self) peers_[id].sender = {id, {id.value}};
    if (input.flag())
        disk_ = Durable{{5000}, config.timing.promise(config.timing.lease), false, config.members};
    seen_.now = {1'000'000'000'007, 2'000'000'000'011};
    start();
}

// ---- The process.

void Host::start() {
    Start start;
    start.now = seen_.now;
    start.incarnation = seen_.incarnation = {0xA000 + ++runs_};
    start.seed = input_.number();
    start.file = disk_;
    start.wall_clock_ms = 1'800'000'000'000;
    accepted_.clear();
    dialled_.clear();
    seen_.sessions.clear();
    seen_.token.reset();
    seen_.coordinator_token.reset();
    published_ = {};
    role_ = Role::follower;
    asked_.clear();
    told_until_.clear();
    granted_by_.clear();
    voted_.clear();
    renewals_.clear();
    forged_votes_.clear();
    token_votes_.clear();
    given_.clear();
    for (auto& [id, peer] : peers_) {
        peer.dialled = no_session;
        peer.buried = {};
    }
    writing_.reset();
    task_ = {};
    task_stopping_ = stopped_ = stop_asked_ = false;
    healthy_ = willing_ = true;
    node_.emplace(config(), start);
    step(Wake{});
}

void Host::crash() {
    if (writing_ && input_.flag()) disk_ = *writing_;
    start();
}

void Host::step(const Event& event) {
    std::vector<Action> actions;
    actions.swap(actions_);
    actions.clear();
    node_->step(seen_.now, event, actions);
    expect(actions.size() <= actions_max, "a step without end");
    const Parts& node = node_->parts();
    seen_.epoch = std::max(seen_.epoch, node.epoch());
    // It stands, whether or not there is anybody yet whom it can ask.
    if (node.role() == Role::candidate) asked_.insert(node.epoch());
    for (const Action& action : actions) carry_out(action);
    actions_.swap(actions);
}

void Host::settle_timers() {
    for (std::size_t wakes = 0; node_->until_wake(seen_.now).ns <= 0 && !stopped_; ++wakes) {
        expect(wakes < wakes_max, "its timer never ends");
        step(Wake{});
    }
}

void Host::carry_out(const Action& action) {
    if (const auto* send = std::get_if<Send>(&action)) return carry_out(*send);
    if (const auto* close = std::get_if<CloseSession>(&action)) {
        const auto found = dialled_.find(close->session);
        if (found != dialled_.end()) {
            check_close(close->session);
            Peer& peer = peers_.at(found->second.to);
            if (peer.dialled == close->session) peer.dialled = no_session;
            dialled_.erase(found);
        }
        accepted_.erase(close->session);
    } else if (const auto* persist = std::get_if<Persist>(&action)) {
        check_persist(persist->durable);
        writing_ = persist->durable;
    } else if (const auto* begin = std::get_if<StartTask>(&action)) {
        expect(!task_, "I12: a task begins while another one runs");
        expect(begin->epoch == published_.epoch, "I12: a task begins, and nobody leads");
        task_ = begin->epoch;
        task_stopping_ = false;
    } else if (const auto* end = std::get_if<StopTask>(&action)) {
        task_ = end->epoch;
        task_stopping_ = true;
    } else if (const auto* publish = std::get_if<Publish>(&action)) {
        check_publish(*publish);
    } else if (const auto* changed = std::get_if<RoleChanged>(&action)) {
        role_ = changed->role;
    } else if (const auto* elected = std::get_if<Elected>(&action)) {
        check_elected(*elected);
    } else if (std::holds_alternative<Stopped>(action)) {
        stopped_ = true;
    }
}

void Host::carry_out(const Send& send) {
    if (const auto found = accepted_.find(send.session); found != accepted_.end()) {
        // The acceptor writes one message and then nothing (§3).
        Accepted& session = found->second;
        expect(!session.answered && !session.refused, "an acceptor that speaks twice");
        session.answered = std::holds_alternative<HelloAck>(send.message);
        session.refused = std::holds_alternative<Refused>(send.message);
        expect(session.answered || session.refused, "an acceptor that speaks");
        if (const auto* ack = std::get_if<HelloAck>(&send.message))
            expect(ack->version == session.version, "I20: another version than both ends speak");
        return;
    }
    const auto found = dialled_.find(send.session);
    if (found == dialled_.end()) return;  // over, and the node has not heard of it
    expect(found->second.up || std::holds_alternative<Hello>(send.message),
           "a word before the handshake is done");
    const NodeId to = found->second.to;
    if (const auto* request = std::get_if<Coordinator>(&send.message)) {
        note_request(*request);
    } else if (const auto* grant = std::get_if<Grant>(&send.message)) {
        check_grant({to, grant->holder_incarnation}, grant->epoch, grant->lease,
                    grant->tied_session);
    } else if (std::holds_alternative<Resign>(send.message)) {
        check_resign();
    } else if (const auto* election = std::get_if<Election>(&send.message)) {
        seen_.attempt = election->attempt;
    } else if (const auto* token = std::get_if<Token>(&send.message)) {
        seen_.token = *token;
    } else if (const auto* ctoken = std::get_if<CoordinatorToken>(&send.message)) {
        seen_.coordinator_token = *ctoken;
        const Walk& walk = ctoken->walk;
        if (walk.owner == config().self && walk.owner_incarnation == seen_.incarnation) {
            expect(role_ == Role::candidate, "§8: a candidacy that is over is asked for again");
            return note_request(ctoken->request);
        }
        const HolderKey owner{walk.owner, walk.owner_incarnation};
        const std::pair request(owner, ctoken->request.epoch);
        for (const TokenGrant& vote : ctoken->grants) {
            if (vote.voter != config().self || vote.voter_incarnation != seen_.incarnation ||
                forged_votes_.contains(request))
                continue;
            // A hop that failed is made again with the same vote, whatever was promised since.
            const bool now = node_->parts().voter.promise().key() == owner &&
                             node_->parts().voter.promise().epoch() == ctoken->request.epoch;
            if (token_votes_.insert(request).second || now)
                check_grant(owner, ctoken->request.epoch, ctoken->request.lease, vote.tied_session);
        }
    }
}

// ---- What must hold.

/// No FIN of its own takes back what it counts on; of a session in error state none can come.
void Host::check_close(SessionId session) const {
    const Parts& node = node_->parts();
    if (node.role() == Role::follower) return;
    expect(!lease_valid(seen_.now, node.holder.lease().tied_until(session)),
           "I9: a session is closed that a counted grant is tied to");
}

void Host::check_persist(const Durable& durable) {
    expect(durable.hw <= highest_epoch, "an absurd epoch becomes durable");
    expect(durable.promised_max <= timing().promise(timing().lease_max),
           "an absurd promise becomes durable");
    // A clean stop gives back what was kept in reserve, and no more.
    expect(durable.hw >= highest_, "the disk forgets an epoch that was asked for or granted");
}

void Host::note_request(const Coordinator& request) {
    expect(disk_ && request.epoch <= disk_->hw, "I11: an epoch is proposed that no disk knows");
    expect(request.renew || !task_, "I10: it stands while its task runs");
    highest_ = std::max(highest_, request.epoch);
    seen_.request = request;
    asked_.insert(request.epoch);
}

void Host::check_publish(const Publish& publish) {
    const Publish before = std::exchange(published_, publish);
    if (!publish.epoch) return;
    if (publish.epoch == before.epoch) {
        expect(later(publish.deadline, before.deadline) == publish.deadline,
               "I10: a lease that shrinks");
    } else {
        expect(!before.epoch, "I12: it leads twice at once");
        expect(publish.epoch > led_, "I2, I3: it leads in an epoch that is not its newest");
        led_ = publish.epoch;
    }
    // Its own vote never decides where it ends. With one member nobody is asked.
    if (config().members.size() > 1) {
        expect(asked_.contains(publish.epoch), "it leads, and has not stood");
        const auto told = told_until_.find(publish.epoch);
        expect(told != told_until_.end() && later(publish.deadline, told->second) == told->second,
               "I5: a lease beyond what was granted");
    }
    expect(later(publish.deadline, seen_.now + timing().lease) == seen_.now + timing().lease,
           "a lease beyond its length");
}

void Host::check_elected(const Elected& elected) {
    MemberSet possible = granted_by_[elected.epoch];
    possible.insert(me());
    expect(possible.contains_all(elected.grants), "a vote is counted that nobody gave");
    expect(elected.grants.size() >= config().members.majority(), "elected by no majority");
}

void Host::check_grant(HolderKey holder, Epoch epoch, Duration lease, SessionId tied) {
    expect(!node_->parts().recovering(), "I7: a grant while it is silent");
    expect(disk_ && epoch <= disk_->hw, "I11: an epoch is granted that no disk knows");
    expect(disk_->promised_max >= timing().promise(lease), "a promise longer than the disk knows");
    const auto peer = peers_.find(holder.id);
    if (peer != peers_.end() && peer->second.buried == holder.incarnation)
        expect(
            promise_over(seen_.now, peer->second.buried_at + timing().promise(timing().lease_max)),
            "R4: a grant to a run that has ended");
    highest_ = std::max(highest_, epoch);
    // A renewal is believed to come from whoever was elected (R2), and here anybody may send one.
    if (!renewals_.contains({holder, epoch})) {
        const auto [before, is_new] = voted_.emplace(epoch, holder);
        expect(before->second == holder, "I2: one epoch is granted to two");
    }
    std::erase_if(given_, [&](const Given& old) { return promise_over(seen_.now, old.end); });
    for (const Given& old : given_)
        expect(old.holder == holder, "I4: a grant against a live promise");
    std::erase_if(given_, [&](const Given& old) { return old.epoch == epoch; });
    // A token that was held may be sent again with the same vote, which is older than this.
    const bool by_token =
        seen_.coordinator_token && node_->parts().voter.promise().epoch() == epoch;
    const Instant end = by_token ? earlier(node_->parts().voter.promise().end(),
                                           seen_.now + timing().promise(lease))
                                 : seen_.now + timing().promise(lease);
    if (!by_token) {
        const Promise& promise = node_->parts().voter.promise();
        expect(promise.key() == holder && later(promise.end(), end) == promise.end(),
               "I6: a promise that its lease outlasts");
    }
    given_.push_back({holder, epoch, end, tied});
}

void Host::check_resign() const {
    expect(!published_.epoch, "I10: RESIGN while it leads");
    expect(!task_, "I10: RESIGN while its task runs");
}

/// Records the grants of a message before the node judges it.
void Host::note_heard(const Message& message, Sender from) {
    const auto count = [&](NodeId voter, Epoch epoch) {
        if (const auto index = config().members.index(voter)) granted_by_[epoch].insert(*index);
    };
    const auto count_end = [&](Epoch epoch, Instant stamp, Duration lease) {
        if (stamp != earlier(stamp, seen_.now)) return;  // it is not counted
        Instant& until = told_until_.emplace(epoch, long_ago).first->second;
        until = later(until, stamp + lease);
    };
    if (const auto* grant = std::get_if<Grant>(&message)) {
        if (grant->holder_incarnation != seen_.incarnation) return;
        count(from.id, grant->epoch);
        count_end(grant->epoch, grant->stamp, grant->lease);
    } else if (const auto* token = std::get_if<CoordinatorToken>(&message)) {
        const Coordinator& request = token->request;
        const HolderKey owner{token->walk.owner, token->walk.owner_incarnation};
        if (request.renew) renewals_.insert({owner, request.epoch});
        for (const TokenGrant& vote : token->grants)
            if (vote.voter == config().self && owner.id != config().self)
                forged_votes_.insert({owner, request.epoch});
        if (owner.incarnation != seen_.incarnation) return;
        for (const TokenGrant& vote : token->grants) count(vote.voter, request.epoch);
        count_end(request.epoch, request.stamp, request.lease);
    } else if (const auto* request = std::get_if<Coordinator>(&message)) {
        if (request->renew) renewals_.insert({{from.id, from.incarnation}, request->epoch});
    } else if (const auto* resign = std::get_if<Resign>(&message)) {
        std::erase_if(given_, [&](const Given& given) {
            return given.holder == HolderKey{from.id, from.incarnation} &&
                   given.epoch <= resign->epoch;
        });
    }
}

}  // namespace bullring::fuzz
