#include "sim/explore/moves.hpp"

#include <algorithm>
#include <stdexcept>

#include "protocol/values/member_change.hpp"

namespace bullring::sim::explore {

using namespace protocol;

namespace {

const Pipe& incoming(const Connection& connection, Side reader) {
    return connection.ends[other(reader)].outgoing;
}

void add_arrivals(const World& world, std::vector<Move>& out) {
    for (std::size_t i = 0; i < world.connections().size(); ++i) {
        const Connection& c = world.connections()[i];
        const auto add = [&](MoveKind kind) {
            out.push_back(move_of(kind, c.ends[dialler_side].host, c.ends[acceptor_side].host, i));
        };
        for (const Side reader : {acceptor_side, dialler_side}) {
            const bool back = reader == dialler_side;
            const End& end = c.ends[reader];
            if (is_readable(world, c, reader)) add(back ? MoveKind::answer : MoveKind::deliver);
            if (end.breaking && end.open && !end.told && world.host(end.host).awake())
                add(back ? MoveKind::broken_back : MoveKind::broken);
        }
    }
}

void add_own_moves(const World& world, std::vector<Move>& out) {
    for (HostIndex h = 0; h < world.members(); ++h) {
        const Host& host = world.host(h);
        if (!host.running()) out.push_back(move_of(MoveKind::restart, h));
        if (host.paused) out.push_back(move_of(MoveKind::resume, h));
        if (!host.awake()) continue;
        if (host.writing) out.push_back(move_of(MoveKind::disk, h));
        if (host.task.asked_to_end) out.push_back(move_of(MoveKind::task, h));
        // A paused process is connected to by its kernel; one that does not run is not.
        for (HostIndex peer = 0; peer < world.members(); ++peer)
            if (peer != h && !host.dialling[peer].session && world.host(peer).running() &&
                host.dials.find(world.host(peer).id) != nullptr)
                out.push_back(move_of(MoveKind::dial, h, peer));
    }
}

/// The instant when something that is in flight cannot be delayed any longer.
Time last_call(const World& world) {
    Time first = end_of_time;
    for (const Connection& c : world.connections())
        for (const Side reader : {acceptor_side, dialler_side})
            if (is_readable(world, c, reader))
                first = std::min(first, incoming(c, reader)[0].arrival);
    return first;
}

void add_time(const World& world, std::vector<Move>& out) {
    Time next = end_of_time;
    for (HostIndex h = 0; h < world.members(); ++h)
        if (world.host(h).awake()) next = std::min(next, world.host(h).wake_at);
    next = std::max(next, world.now());  // the timer of one that was paused is overdue
    const Time limit = last_call(world);
    if (next < end_of_time && (next == world.now() || next <= limit)) {
        for (HostIndex h = 0; h < world.members(); ++h)
            if (world.host(h).awake() && world.host(h).wake_at <= next)
                out.push_back(move_of(MoveKind::wake, h));
    } else if (limit < end_of_time && limit > world.now()) {
        out.push_back(move_of(MoveKind::wait, 0));
    }
}

/// Those that the leader's list is not as they would have it.
std::vector<MoveKind> changes_of(const Node& leader, NodeId about) {
    const Membership& list = leader.parts().list();
    const MemberEntry* const member = list.find(about);
    if (list.empty()) return {};
    if (member == nullptr) return {MoveKind::add};
    return {MoveKind::remove, member->votes ? MoveKind::demote : MoveKind::promote};
}

void add_faults(const World& world, FaultKinds kinds, std::vector<Move>& out) {
    const auto add = [&](MoveKind kind, HostIndex h, HostIndex other = 0, std::size_t i = 0) {
        if (kinds.contains(kind)) out.push_back(move_of(kind, h, other, i));
    };
    for (HostIndex h = 0; h < world.members(); ++h) {
        const Host& host = world.host(h);
        if (!host.running()) continue;
        add(MoveKind::crash, h);
        add(MoveKind::power_off, h);
        if (host.paused) continue;
        add(MoveKind::pause, h);
        for (HostIndex as = world.members(); as < world.homes(); ++as)
            if (world.host(as).id != host.id) add(MoveKind::greet, h, as - world.members());
        if (!world.leads(h)) continue;
        add(MoveKind::resign, h);
        for (HostIndex about = 0; about < world.members(); ++about)
            for (const MoveKind change : changes_of(*host.node, world.host(about).id))
                add(change, h, about);
    }
    for (std::size_t i = 0; i < world.connections().size(); ++i) {
        const Connection& c = world.connections()[i];
        const HostIndex from = c.ends[dialler_side].host;
        const HostIndex to = c.ends[acceptor_side].host;
        if (!c.ends[dialler_side].open || !c.ends[acceptor_side].open || c.forgotten) continue;
        add(MoveKind::reset, from, to, i);
        add(MoveKind::cut, from, to, i);
        const Host& dialler = world.host(from);
        if (dialler.awake() && dialler.dialling[to].session == World::dialler_end(i))
            add(MoveKind::give_up, from, to, i);
    }
}

/// Of a node of another cluster with a list that is newer than any of this one.
Hello greeting(const World& world, HostIndex stranger) {
    const Config& config = world.config(stranger);
    const MemberChange one_more{
        MemberChange::What::add, {config.members.ids().back().value + 1}, "x"};
    Hello hello;
    hello.cluster = config.cluster;
    hello.changed = with(config.members, one_more, {{std::uint64_t{1} << 50U}, 1});
    hello.members = hello.changed->ids();
    hello.algorithm = config.algorithm;
    hello.rho_ppm = config.timing.rho_ppm;
    hello.id = config.self;
    hello.incarnation = run_by_hand(stranger, 1);
    hello.lease = config.timing.lease;
    hello.heartbeat_period = config.timing.heartbeat;
    hello.had_file_at_start = true;
    return hello;
}

void change(World& world, const Move& move, MemberChange::What what) {
    const NodeId about = world.host(move.other).id;
    world.change_members(move.node, {what, about, "n" + std::to_string(about.value)});
}

/// Everything arrives at once and every disk answers at once; afterwards nothing is left to be done
/// before `until`. Who has not been started stays down.
void run_quietly(World& world, Time until) {
    std::vector<Move> all;
    for (;;) {
        find_moves(world, {}, all);
        const auto next = std::find_if(all.begin(), all.end(), [](const Move& move) {
            return move.kind != MoveKind::restart;
        });
        const bool later = next == all.end() ||
                           (next->kind == MoveKind::wake && world.host(next->node).wake_at > until);
        if (later) break;
        make(world, *next);
    }
    world.advance(until);
}

}  // namespace

bool is_readable(const World& world, const Connection& connection, Side reader) {
    const End& end = connection.ends[reader];
    return !incoming(connection, reader).empty() && end.open && !end.told &&
           !connection.forgotten && world.host(end.host).awake();
}

void find_moves(const World& world, FaultKinds faults, std::vector<Move>& out) {
    out.clear();
    add_arrivals(world, out);
    add_own_moves(world, out);
    add_time(world, out);
    add_faults(world, faults, out);
}

bool possible(const World& world, const Move& move) {
    FaultKinds kinds;
    kinds.insert(move.kind);
    std::vector<Move> all;
    find_moves(world, kinds, all);
    return std::find(all.begin(), all.end(), move) != all.end();
}

void make(World& world, const Move& move) {
    const HostIndex h = move.node;
    const std::uint32_t run = world.host(h).run;
    const auto happen = [&](Happening what, std::uint64_t a, std::uint32_t b, std::uint64_t c = 0) {
        world.happen(world.now(), what, a, b, c);
    };
    switch (move.kind) {
        case MoveKind::deliver: return happen(Happening::parcel, move.connection, acceptor_side);
        case MoveKind::answer: return happen(Happening::parcel, move.connection, dialler_side);
        case MoveKind::broken: return happen(Happening::broken, move.connection, acceptor_side);
        case MoveKind::broken_back: return happen(Happening::broken, move.connection, dialler_side);
        case MoveKind::disk: return happen(Happening::persisted, h, run);
        case MoveKind::task:
            return happen(Happening::task_ended, h, run, world.host(h).task.epoch.value);
        case MoveKind::dial: return happen(Happening::connected, h, run, move.other);
        case MoveKind::restart: return world.start(h);
        case MoveKind::resume: return world.resume(h);
        case MoveKind::wake: return world.happen(world.host(h).wake_at, Happening::wake, h, run);
        case MoveKind::wait: world.advance(last_call(world)); return;
        case MoveKind::crash: return world.die(h, Death::killed);
        case MoveKind::power_off: return world.die(h, Death::power_off);
        case MoveKind::pause: return world.pause(h);
        case MoveKind::resign: return world.resign(h, nobody);
        case MoveKind::reset:
            return world.sever(move.connection, {SessionEnd::reset, SessionEnd::reset});
        case MoveKind::cut: return world.sever(move.connection, {SessionEnd::timeout, {}});
        case MoveKind::give_up:
            world.give_up(move.connection);
            return happen(Happening::broken, move.connection, dialler_side);
        case MoveKind::add: return change(world, move, MemberChange::What::add);
        case MoveKind::remove: return change(world, move, MemberChange::What::remove);
        case MoveKind::promote: return change(world, move, MemberChange::What::promote);
        case MoveKind::demote: return change(world, move, MemberChange::What::demote);
        case MoveKind::greet: {
            const HostIndex stranger = world.members() + move.other;
            return world.greet(h, stranger, greeting(world, stranger));
        }
    }
}

Duration longest_look_back(const Config& config, bool without_files) {
    const Timing& t = config.timing;
    Duration longest = std::max({t.promise(t.lease), t.suspect_after, t.campaign_wait});
    if (config.preempt) longest = std::max(longest, t.preempt_delay);
    // A start without a file waits for the others, or for the longest of all promises.
    if (without_files) longest = std::max({longest, config.bootstrap_wait, t.promise(t.lease_max)});
    return longest + milliseconds(1);
}

void begin(World& world) {
    const bool settled = world.settings().by_hand == Begin::settled;
    // Not in step with one another, as in life.
    const Time apart = world.config(0).timing.heartbeat.ns / static_cast<Time>(world.members());
    for (HostIndex h = 0; h < world.members(); ++h) {
        if (settled) run_quietly(world, static_cast<Time>(h) * apart);
        world.start(h);
    }
    if (!settled) return;
    constexpr Time patience = 60 * sec;
    while (!world.leader() && world.now() < patience) run_quietly(world, world.now() + apart);
    run_quietly(world, world.now() + 2 * longest_look_back(world.config(0), true).ns);
    if (!world.leader()) throw std::logic_error("nobody leads a small world without faults");
}

std::string content_name(const World& world, const Move& move) {
    if (move.kind != MoveKind::deliver && move.kind != MoveKind::answer) return "";
    const Connection& c = world.connections()[move.connection];
    const Parcel& parcel =
        incoming(c, move.kind == MoveKind::deliver ? acceptor_side : dialler_side)[0];
    return parcel.message ? name(*parcel.message) : "FIN";
}

}  // namespace bullring::sim::explore
