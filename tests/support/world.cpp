#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>

namespace bullring::test {

using namespace protocol;

namespace {
template <class... Handlers>
struct overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;
}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)), rng_(options_.seed), hosts_(options_.nodes) {
    for (Host& host : hosts_) {
        host.boottime_rate = 1 + (static_cast<double>(rng_.below(2001)) - 1000) * 1e-6;
        host.raw_rate = 1 + (static_cast<double>(rng_.below(2001)) - 1000) * 1e-6;
    }
}

void World::at(Time when, std::function<void()> what) {
    queue_.emplace(std::pair{std::max(when, now_), sequence_++}, std::move(what));
}

Instant World::clock(std::uint64_t id) {
    const Host& h = host(id);
    return {static_cast<std::int64_t>(std::llround(static_cast<double>(now_) * h.boottime_rate)) +
                static_cast<std::int64_t>(id) * 1'000'000'000,
            static_cast<std::int64_t>(std::llround(static_cast<double>(now_) * h.raw_rate)) +
                static_cast<std::int64_t>(id) * 3'000'000'000};
}

void World::start(std::uint64_t id) {
    Host& h = host(id);
    if (h.node) return;
    Config config;
    config.self = {id};
    std::vector<NodeId> ids;
    for (std::uint64_t i = 1; i <= options_.nodes; ++i) ids.push_back({i});
    config.members = Membership(ids);
    config.algorithm = options_.algorithm;
    config.preempt = options_.algorithm == Algorithm::bully;
    TimingRequest request;
    request.profile = options_.profile;
    config.timing = make_timing(request, options_.nodes, options_.algorithm);
    options_.configure(config);
    ++h.run;
    h.paused = false;
    h.backlog.clear();
    h.dialled.clear();
    h.published = {};
    Start start;
    start.now = clock(id);
    start.incarnation = {rng_.next()};
    start.seed = rng_.next();
    start.file = h.disk;
    start.wall_clock_ms = 1'000'000 + static_cast<std::uint64_t>(now_ / ms);
    h.node.emplace(config, start);
    say("start " + std::to_string(id));
    step(id, Wake{});
    for (std::uint64_t peer = 1; peer <= options_.nodes; ++peer)
        if (peer != id) dial(id, peer);
}

void World::start_all() {
    for (std::uint64_t id = 1; id <= options_.nodes; ++id) start(id);
}

void World::end(std::uint64_t id, bool fin) {
    Host& h = host(id);
    if (!h.node) return;
    say((fin ? "crash " : "power off ") + std::to_string(id));
    h.node.reset();
    h.published = {};
    const std::uint64_t run = h.run;
    for (auto& [key, c] : connections_) {
        const bool dialled = c.dialler == id && c.dialler_run == run;
        const bool accepted = c.acceptor == id && c.acceptor_run == run;
        if (!dialled && !accepted) continue;
        c.open[dialled ? 1 : 0] = false;
        if (fin)
            session_over(key, dialled, dialled ? SessionEnd::eof : SessionEnd::reset);
        else
            break_session(key, 1000 * ms, 1000 * ms);
    }
}

void World::pause(std::uint64_t id) {
    say("pause " + std::to_string(id));
    host(id).paused = true;
}

void World::resume(std::uint64_t id) {
    Host& h = host(id);
    if (!h.paused) return;
    say("resume " + std::to_string(id));
    h.paused = false;
    if (!h.node) return;
    std::vector<Event> backlog;
    backlog.swap(h.backlog);
    step(id, Wake{});
    for (const Event& event : backlog)
        if (h.node) step(id, event);
}

bool World::is_cut(std::uint64_t a, std::uint64_t b) const {
    const auto found = cut_.find({a, b});
    return found != cut_.end() && found->second;
}

void World::cut(std::uint64_t a, std::uint64_t b) {
    say("cut " + std::to_string(a) + "-" + std::to_string(b));
    cut_[{a, b}] = cut_[{b, a}] = true;
    for (auto& [key, c] : connections_)
        if ((c.dialler == a && c.acceptor == b) || (c.dialler == b && c.acceptor == a))
            break_session(key, 1000 * ms, 1500 * ms);
}

void World::heal(std::uint64_t a, std::uint64_t b) {
    if (is_cut(a, b)) say("heal " + std::to_string(a) + "-" + std::to_string(b));
    cut_[{a, b}] = cut_[{b, a}] = false;
}

void World::reset_sessions(std::uint64_t a, std::uint64_t b) {
    for (auto& [key, c] : connections_)
        if ((c.dialler == a && c.acceptor == b) || (c.dialler == b && c.acceptor == a))
            break_session(key, ms, ms);
}

void World::break_session(std::uint64_t key, Time dialler_notices, Time acceptor_notices) {
    Connection& c = connections_.at(key);
    if (c.broken) return;
    c.broken = true;
    const auto notice = [this, key](bool acceptor) {
        Connection& broken = connections_.at(key);
        const std::size_t side = acceptor ? 0 : 1;
        if (!broken.open[side]) return;
        broken.open[side] = false;
        const std::uint64_t id = acceptor ? broken.acceptor : broken.dialler;
        const std::uint64_t run = acceptor ? broken.acceptor_run : broken.dialler_run;
        const SessionId session = acceptor ? broken.acceptor_id : broken.dialler_id;
        if (!host(id).node || host(id).run != run || !session) return;
        step(id, SessionEnded{session, SessionEnd::reset});
        if (!acceptor) dial_later(id, broken.acceptor);
    };
    at(now_ + dialler_notices, [notice] { notice(false); });
    at(now_ + acceptor_notices, [notice] { notice(true); });
}

void World::dial_later(std::uint64_t id, std::uint64_t peer) {
    Host& h = host(id);
    h.dialled.erase(peer);
    const std::uint64_t run = h.run;
    at(now_ + 10 * ms + static_cast<Time>(rng_.below(40)) * ms, [this, id, peer, run] {
        if (host(id).node && host(id).run == run) dial(id, peer);
    });
}

void World::dial(std::uint64_t id, std::uint64_t peer) {
    Host& h = host(id);
    if (h.dialled.contains(peer)) return;
    if (h.paused || !host(peer).node || is_cut(id, peer)) return dial_later(id, peer);
    Connection c;
    c.dialler = id;
    c.acceptor = peer;
    c.dialler_run = h.run;
    c.acceptor_run = host(peer).run;
    c.dialler_id = {h.next_session++};
    c.acceptor_id = {host(peer).next_session++};
    h.dialled[peer] = c.dialler_id;
    connections_[next_connection_++] = c;
    step(id, Dialled{{peer}, c.dialler_id, {"d", "a"}});
}

void World::send(std::uint64_t id, const Send& send) {
    for (auto& [key, c] : connections_) {
        const bool to_acceptor =
            c.dialler == id && c.dialler_id == send.session && c.dialler_run == host(id).run;
        const bool to_dialler =
            c.acceptor == id && c.acceptor_id == send.session && c.acceptor_run == host(id).run;
        if (!to_acceptor && !to_dialler) continue;
        if (c.broken || !c.open[to_acceptor ? 1 : 0]) return;
        ++messages_;
        if (const auto* hello = std::get_if<Hello>(&send.message))
            arrive(key, true, HelloReceived{c.acceptor_id, *hello, {"a", "d"}});
        else
            arrive(key, to_acceptor,
                   Receive{to_acceptor ? c.acceptor_id : c.dialler_id, send.message});
        return;
    }
}

void World::arrive(std::uint64_t key, bool at_acceptor, const Event& event) {
    Connection& c = connections_.at(key);
    Time& last = c.last_arrival[at_acceptor ? 0 : 1];
    const auto spread = static_cast<std::uint64_t>(options_.delay_max - options_.delay_min + 1);
    last = std::max(last, now_ + options_.delay_min + static_cast<Time>(rng_.below(spread)));
    at(last, [this, key, at_acceptor, event] {
        Connection& to = connections_.at(key);
        const std::uint64_t id = at_acceptor ? to.acceptor : to.dialler;
        const std::uint64_t run = at_acceptor ? to.acceptor_run : to.dialler_run;
        const std::size_t side = at_acceptor ? 0 : 1;
        if (to.broken || !to.open[side] || !host(id).node || host(id).run != run) return;
        if (const auto* ended = std::get_if<SessionEnded>(&event)) {
            (void)ended;
            to.open[side] = false;
            step(id, event);
            if (!at_acceptor) dial_later(id, to.acceptor);
            return;
        }
        step(id, event);
    });
}

/// This end is gone; the other end reads it after all that was sent before.
void World::session_over(std::uint64_t key, bool dialler_ended, SessionEnd how) {
    Connection& c = connections_.at(key);
    arrive(key, dialler_ended, SessionEnded{dialler_ended ? c.acceptor_id : c.dialler_id, how});
}

void World::close(std::uint64_t id, SessionId session) {
    for (auto& [key, c] : connections_) {
        const bool dialler =
            c.dialler == id && c.dialler_id == session && c.dialler_run == host(id).run;
        const bool acceptor =
            c.acceptor == id && c.acceptor_id == session && c.acceptor_run == host(id).run;
        if (!dialler && !acceptor) continue;
        const std::size_t side = dialler ? 1 : 0;
        if (!c.open[side]) return;
        c.open[side] = false;
        session_over(key, dialler, SessionEnd::eof);
        auto& dialled = host(id).dialled;
        if (dialler && dialled.contains(c.acceptor) && dialled[c.acceptor] == session)
            dial_later(id, c.acceptor);
        return;
    }
}

void World::give(std::uint64_t id, const Event& event) {
    if (host(id).node) step(id, event);
}

void World::step(std::uint64_t id, const Event& event) {
    Host& h = host(id);
    if (!h.node) return;
    if (h.paused) {
        if (!std::holds_alternative<Wake>(event)) h.backlog.push_back(event);
        return;
    }
    std::vector<Action> actions;
    h.node->step(clock(id), event, actions);
    const std::uint64_t run = h.run;
    for (const Action& action : actions) {
        if (!h.node || h.run != run) return;
        carry_out(id, action);
    }
    if (!h.node || h.run != run) return;
    check();
    const std::uint64_t ticket = ++h.wake_ticket;
    const Duration wake = h.node->until_wake(clock(id));
    if (wake >= forever) return;
    // A host's timer runs on its own clock; a little late on the slower of the two.
    at(now_ + wake.ns + wake.ns / 1000 + 1000, [this, id, run, ticket] {
        if (host(id).node && host(id).run == run && host(id).wake_ticket == ticket)
            step(id, Wake{});
    });
}

void World::carry_out(std::uint64_t id, const Action& action) {
    const std::uint64_t run = host(id).run;
    const auto later = [this, id, run](Time when, Event event) {
        at(when, [this, id, run, event] {
            if (host(id).node && host(id).run == run) step(id, event);
        });
    };
    const std::string who = std::to_string(id) + ": ";
    std::visit(
        overloaded{
            [&](const Send& a) { send(id, a); },
            [&](const CloseSession& a) { close(id, a.session); },
            [&](const DialNow& a) {
                at(now_, [this, id, run, peer = a.peer.value] {
                    if (host(id).node && host(id).run == run) dial(id, peer);
                });
            },
            [&](const Persist& a) {
                ++persists_;
                at(now_ + options_.fsync, [this, id, run, durable = a.durable] {
                    if (!host(id).node || host(id).run != run) return;
                    host(id).disk = durable;
                    step(id, Persisted{durable});
                });
            },
            [&](const StopTask& a) {
                later(now_ + options_.task_ending, TaskEnded{a.epoch, false, false});
            },
            [&](const Publish& a) { publish(id, a); },
            [&](const Elected& a) { elected(id, a); },
            [&](const Deposed& a) {
                say(who + "deposed " + std::to_string(a.epoch.value) + " " + name(a.reason));
            },
            [&](const LeaderChanged& a) {
                say(who + "follows " + std::to_string(a.leader.value) + " in " +
                    std::to_string(a.epoch.value));
            },
            [&](const PeerDown& a) {
                say(who + "peer down " + std::to_string(a.peer.value) + " " + name(a.reason));
            },
            [&](const ElectionStarted& a) {
                say(who + "election " + std::to_string(a.epoch.value) + " " + a.reason);
            },
            [&](const Stopped&) { crash(id); },
            [](const auto&) {},
        },
        action);
}

void World::publish(std::uint64_t id, const Publish& publish) {
    Publish& published = host(id).published;
    if (publish.epoch && publish.epoch == published.epoch &&
        publish.deadline.boottime_ns < published.deadline.boottime_ns)
        violation_ = "I10: the deadline of a leader decreased";
    published = publish;
}

void World::elected(std::uint64_t id, const Elected& elected) {
    say(std::to_string(id) + ": elected " + std::to_string(elected.epoch.value));
    if (!elections_.empty() && elections_.back().epoch >= elected.epoch && violation_.empty())
        violation_ = "I2: epoch " + std::to_string(elected.epoch.value) + " after " +
                     std::to_string(elections_.back().epoch.value);
    elections_.push_back({now_, {id}, elected.epoch});
}

NodeId World::leader() {
    for (std::uint64_t id = 1; id <= options_.nodes; ++id) {
        const Host& h = host(id);
        if (h.node && h.published.epoch && lease_valid(clock(id), h.published.deadline))
            return {id};
    }
    return nobody;
}

void World::check() {
    std::vector<std::uint64_t> valid;
    for (std::uint64_t id = 1; id <= options_.nodes; ++id) {
        const Host& h = host(id);
        if (h.node && h.published.epoch && lease_valid(clock(id), h.published.deadline))
            valid.push_back(id);
    }
    if (valid.size() > 1 && violation_.empty())
        violation_ = "I1: nodes " + std::to_string(valid[0]) + " and " + std::to_string(valid[1]) +
                     " lead at " + std::to_string(now_);
}

View World::view(std::uint64_t id) { return host(id).node->view(clock(id)); }

bool World::run_until(Time limit, const std::function<bool()>& condition) {
    while (!queue_.empty() && queue_.begin()->first.first <= limit) {
        const auto first = queue_.begin();
        now_ = first->first.first;
        const auto what = std::move(first->second);
        queue_.erase(first);
        what();
        if (condition()) return true;
    }
    now_ = std::max(now_, limit);
    return false;
}

bool World::run_until_leader(Time duration) {
    return run_until(now_ + duration, [this] { return static_cast<bool>(leader()); });
}

void World::say(const std::string& line) {
    log_.push_back(std::to_string(now_ / 1000) + "us " + line);
}

}  // namespace bullring::test
