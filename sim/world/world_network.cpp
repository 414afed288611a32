// Connections: dialling, the handshake's deadline, what is on its way, how ends are lost.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "protocol/values/dialling.hpp"
#include "sim/world/older_versions.hpp"
#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

bool replaces(const Message& newer, const Message& older) {
    return newer.index() == older.index() &&
           (std::holds_alternative<Heartbeat>(newer) || std::holds_alternative<Coordinator>(newer));
}

}  // namespace

void World::dial_after(HostIndex h, HostIndex peer, Time wait) {
    Host& host = hosts_[h];
    Dialling& dialling = host.dialling[peer];
    if (dialling.session) return;
    if (dialling.attempt && wait > 0) return;
    // A second attempt at once, because the peer is known to be there, does no harm: the first to
    // connect wins.
    dialling.attempt = true;
    queue_.push(now_ + wait, Happening::dial, h, host.run, peer);
}

void World::dial_again(HostIndex h, HostIndex peer) {
    Dialling& dialling = hosts_[h].dialling[peer];
    dialling.session = no_session;
    const Time pause = dialling.pause;
    dialling.pause = std::min(dialling.pause * 2, dial_pause_max.ns);
    dialling.elsewhere = !dialling.elsewhere;
    dial_after(h, peer, draw({pause / 2, pause}));
}

void World::dial(HostIndex h, HostIndex peer) {
    Host& host = hosts_[h];
    if (host.dialling[peer].session || host.dialling[peer].attempt) return;
    if (!dials(host, peer)) return;
    if (!host.awake()) {
        host.dialling[peer].attempt = true;
        queue_.push(now_ + dial_pause_min.ns, Happening::dial, h, host.run, peer);
        return;
    }
    host.dialling[peer].attempt = true;
    const Time trip = draw(settings_.delay) + draw(settings_.delay);
    const auto target = address_of(h, peer);
    const bool answered = target && two_way(h, *target);
    const Time wait = answered ? trip : connect_max(configs_[h].timing).ns;
    queue_.push(now_ + wait, Happening::connected, h, host.run, peer);
}

void World::connected(HostIndex h, HostIndex peer) {
    Host& host = hosts_[h];
    if (host.dialling[peer].session) return;
    const auto at = address_of(h, peer);
    if (!host.awake() || !at || !hosts_[*at].running() || !two_way(h, *at))
        return dial_again(h, peer);
    const HostIndex target = *at;
    Connection connection;
    connection.dialled = peer;
    connection.dialler().host = h;
    connection.dialler().run = host.run;
    connection.acceptor().host = target;
    connection.acceptor().run = hosts_[target].run;
    const std::size_t number = connections_.size();
    connections_.push_back(std::move(connection));
    const SessionId session = session_id(number, dialler_side);
    host.dialling[peer].session = session;
    queue_.push(now_ + handshake_max.ns, Happening::handshake_late, number);
    const bool elsewhere = at != host_of(settings_.ids[peer], host.site);
    step(h, Dialled{settings_.ids[peer], session, {"dialler", "acceptor"}, elsewhere});
}

void World::handshake_late(std::size_t number) {
    Connection& connection = connections_[number];
    if (connection.established || !connection.dialler().open) return;
    End& end = connection.dialler();
    if (!is_run(end.host, end.run)) return;
    if (!hosts_[end.host].awake()) {
        queue_.push(now_ + ms, Happening::handshake_late, number);
        return;
    }
    // The host closes the socket of a greeting that came to nothing.
    const bool told = end.told;
    let_go(number, dialler_side, Death::killed);
    end.told = true;
    const HostIndex h = end.host;
    const HostIndex peer = connection.dialled;
    if (hosts_[h].dialling[peer].session == session_id(number, dialler_side)) dial_again(h, peer);
    if (!told) give(h, SessionEnded{session_id(number, dialler_side), SessionEnd::timeout});
}

// ---- Sending.

void World::send(const Send& send) {
    const std::size_t number = send.session.value / 2 - 1;
    const Side from = side_of(send.session);
    if (!connections_[number].ends[from].open) return;
    if (std::holds_alternative<HelloAck>(send.message)) {
        const End& dialler = connections_[number].dialler();
        const Host& caller = hosts_[dialler.host];
        if (caller.run == dialler.run && configs_[dialler.host].fast_release == FastRelease::notice)
            hosts_[connections_[number].acceptor().host].introduced.insert(
                {caller.id, caller.incarnation});
    }
    Message message = send.message;
    if (settings_.translated)
        std::visit(
            [](auto& m) {
                if constexpr (std::is_same_v<std::decay_t<decltype(m)>, Hello>)
                    m.addresses = {"dialler", "translator"};
            },
            message);
    const HostIndex a = connections_[number].dialler().host;
    const HostIndex b = connections_[number].acceptor().host;
    leave_out_above(std::min(configs_[a].wire_highest, configs_[b].wire_highest), message);
    transmit(number, from, Parcel{0, std::move(message)});
}

void World::transmit(std::size_t number, Side from, Parcel&& parcel) {
    Connection& connection = connections_[number];
    End& end = connection.ends[from];
    const End& reader = connection.ends[other(from)];
    if (connection.forgotten) return expect_answer(number, from);
    if (reader.process_gone) {
        // Nobody has that socket any more: the kernel there answers with RST, if it can.
        if (!two_way(end.host, reader.host)) return expect_answer(number, from);
        if (parcel.message)
            break_end(number, from, SessionEnd::reset,
                      draw(settings_.delay) + draw(settings_.delay));
        return;
    }
    const bool stalled = !passes(end.host, reader.host);
    if (parcel.message && backed_up(end.outgoing)) {
        for (std::size_t i = settings_.unread_max; i < end.outgoing.size(); ++i) {
            if (!end.outgoing[i].message || !replaces(*parcel.message, *end.outgoing[i].message))
                continue;
            end.outgoing.erase(i);
            break;
        }
        if (end.outgoing.size() >= settings_.unread_max + settings_.outbox_max)
            return make_room(number, from);
    }
    Time trip = by_hand() ? settings_.delay.max : draw(settings_.delay);
    if (chance(settings_.loss_ppm)) trip += draw(settings_.resend);
    parcel.arrival = stalled ? end_of_time : std::max(end.outgoing.last_arrival, now_ + trip);
    if (stalled || !passes(reader.host, end.host)) expect_answer(number, from);
    if (!stalled) {
        end.outgoing.last_arrival = parcel.arrival;
        queue_.push(parcel.arrival, Happening::parcel, number, other(from));
    }
    end.outgoing.push(std::move(parcel));
}

/// The reader does not read, or nothing gets through, and the kernels' buffers are full.
bool World::backed_up(Pipe& pipe) const {
    if (pipe.size() < settings_.unread_max) return false;
    const Time first = pipe.front().arrival;
    return first <= now_ || first == end_of_time;
}

/// The outbox is full of messages that can't be replaced: the session has to be given up.
void World::make_room(std::size_t number, Side from) {
    End& end = connections_[number].ends[from];
    if (end.told || end.breaking) return;
    end.breaking = SessionEnd::overflow;
    queue_.push(now_, Happening::broken, number, from);
}

void World::expect_answer(std::size_t number, Side from) {
    End& end = connections_[number].ends[from];
    if (end.unanswered_since >= 0) return;
    end.unanswered_since = now_;
    queue_.push(now_ + unacknowledged_max(configs_[end.host].timing).ns, Happening::unanswered,
                number, from);
}

void World::unanswered(std::size_t number, Side from) {
    End& end = connections_[number].ends[from];
    const Time limit = unacknowledged_max(configs_[end.host].timing).ns;
    if (end.unanswered_since < 0) return;
    if (end.unanswered_since + limit > now_) {
        queue_.push(end.unanswered_since + limit, Happening::unanswered, number, from);
        return;
    }
    end.outgoing.clear();
    break_end(number, from, SessionEnd::timeout, 0);
}

// ---- Reading.

void World::read(std::size_t number, Side reader) {
    Connection& connection = connections_[number];
    End& end = connection.ends[reader];
    Pipe& pipe = connection.ends[other(reader)].outgoing;
    if (pipe.empty() || !arrived(pipe.front()) || connection.forgotten) return;
    if (!end.open || !is_run(end.host, end.run)) {
        const End& sender = connection.ends[other(reader)];
        if (pipe.front().message && end.process_gone && passes(end.host, sender.host))
            break_end(number, other(reader), SessionEnd::reset, draw(settings_.delay));
        pipe.pop();
        return;
    }
    Host& host = hosts_[end.host];
    if (!host.awake()) return;  // it lies there unread
    if (host.busy_until > now_) {
        queue_.push(host.busy_until, Happening::parcel, number, reader);
        return;
    }
    Parcel parcel = std::move(pipe.front());
    pipe.pop();
    deliver(number, reader, std::move(parcel));
}

void World::deliver(std::size_t number, Side reader, Parcel&& parcel) {
    Connection& connection = connections_[number];
    const HostIndex h = connection.ends[reader].host;
    const SessionId session = session_id(number, reader);
    if (!parcel.message) return session_over(number, reader, SessionEnd::eof);
    if (connection.ends[reader].told) return;
    if (flip_next_.erase({connection.ends[other(reader)].host, h}) != 0)
        return reject(number, reader);
    ++delivered_;
    tell_lies(connection.ends[other(reader)], connection.ends[reader], *parcel.message);
    if (reader == acceptor_side) {
        if (const auto* hello = std::get_if<Hello>(&*parcel.message))
            return step(h, HelloReceived{session, *hello, {"acceptor", "dialler"}});
    } else if (std::holds_alternative<HelloAck>(*parcel.message)) {
        connection.established = true;
        hosts_[h].dialling[connection.dialled].pause = dial_pause_min.ns;
    } else if (std::holds_alternative<Refused>(*parcel.message) &&
               hosts_[connection.acceptor().host].id != settings_.ids[connection.dialled]) {
        // It is not the member's word.
        return reject(number, reader);
    }
    step(h, Receive{session, std::move(*parcel.message)});
}

void World::tell_lies(const End& from, const End& to, Message& message) {
    std::erase_if(lies_, [&](const Lie& lie) {
        return lie.from == from.host && lie.to == to.host && say(lie, message);
    });
}

// ---- How ends are lost.

/// The frame's checksum is wrong. The acceptor closes the connection; the dialler gives it up, and
/// its node says when it is closed.
void World::reject(std::size_t number, Side reader) {
    if (reader == acceptor_side) let_go(number, reader, Death::killed);
    session_over(number, reader, SessionEnd::protocol);
}

/// The node hears that the session is over, and dials again.
void World::session_over(std::size_t number, Side side, SessionEnd how) {
    End& end = connections_[number].ends[side];
    if (end.told) return;
    end.told = true;
    end.in_error = how == SessionEnd::reset || how == SessionEnd::timeout;
    if (side == acceptor_side || end.in_error) {
        end.open = false;
        end.process_gone = true;
    }
    const HostIndex h = end.host;
    const HostIndex peer = connections_[number].dialled;
    const SessionId session = session_id(number, side);
    if (side == dialler_side && hosts_[h].dialling[peer].session == session) dial_again(h, peer);
    give(h, SessionEnded{session, how});
}

void World::break_end(std::size_t number, Side side, SessionEnd how, Time after) {
    End& end = connections_[number].ends[side];
    if (!end.open || end.told || end.breaking) return;
    end.breaking = how;
    queue_.push(now_ + after, Happening::broken, number, side);
}

void World::end_noticed(std::size_t number, Side side) {
    End& end = connections_[number].ends[side];
    if (!end.open || end.told || !is_run(end.host, end.run)) return;
    if (!hosts_[end.host].awake()) {
        queue_.push(now_ + ms, Happening::broken, number, side);
        return;
    }
    session_over(number, side, *std::exchange(end.breaking, std::nullopt));
}

/// CloseSession: what is queued is sent first, then FIN.
void World::close(SessionId session) {
    const std::size_t number = session.value / 2 - 1;
    const Side side = side_of(session);
    End& end = connections_[number].ends[side];
    end.in_error = false;  // its node knows it no more
    if (!end.open) return;
    const HostIndex h = end.host;
    const HostIndex peer = connections_[number].dialled;
    let_go(number, side, Death::killed);
    connections_[number].ends[side].told = true;
    if (side == dialler_side && hosts_[h].dialling[peer].session == session) dial_again(h, peer);
}

/// The process no longer has the socket: FIN behind what was sent, or RST, or silence.
void World::let_go(std::size_t number, Side side, Death death) {
    Connection& connection = connections_[number];
    End& end = connection.ends[side];
    if (!end.open) return;
    end.open = false;
    end.process_gone = true;
    if (death == Death::power_off) {
        end.outgoing.clear();
        return;
    }
    Pipe& incoming = connection.ends[other(side)].outgoing;
    const bool unread =
        !incoming.empty() && arrived(incoming.front()) && incoming.front().message.has_value();
    if (by_hand()) incoming.clear();
    // The part that the kernel has not taken yet dies with the process.
    end.outgoing.cut_behind(settings_.unread_max);
    if (death == Death::reset || unread) {
        if (!passes(end.host, connection.ends[other(side)].host)) return;  // an RST is not resent
        if (by_hand() || rng_.below(2) == 0) end.outgoing.clear();
        break_end(number, other(side), SessionEnd::reset, draw(settings_.delay));
        return;
    }
    transmit(number, side, Parcel{});
}

// ---- Links.

void World::cut(HostIndex from, HostIndex to) {
    if (links_.cut(from, to)) return;
    links_.set(from, to, true);
    stall_link(from, to);
}

void World::heal(HostIndex from, HostIndex to) {
    if (!links_.cut(from, to)) return;
    links_.set(from, to, false);
    unstall(from, to);
    unstall(to, from);
}

/// Messages under way do not arrive; TCP sends them again until one end gives up.
void World::stall_link(HostIndex from, HostIndex to) {
    for (std::size_t number = 0; number < connections_.size(); ++number) {
        for (const Side side : {dialler_side, acceptor_side}) {
            End& end = connections_[number].ends[side];
            if (end.host != from || connections_[number].ends[other(side)].host != to) continue;
            bool any = false;
            for (std::size_t i = 0; i < end.outgoing.size(); ++i) {
                if (end.outgoing[i].arrival <= now_) continue;
                end.outgoing[i].arrival = end_of_time;
                any = true;
            }
            if (any) expect_answer(number, side);
        }
    }
}

void World::unstall(HostIndex from, HostIndex to) {
    if (!passes(from, to)) return;
    for (std::size_t number = 0; number < connections_.size(); ++number) {
        for (const Side side : {dialler_side, acceptor_side}) {
            End& end = connections_[number].ends[side];
            if (end.host != from || connections_[number].ends[other(side)].host != to) continue;
            const Time silent = end.unanswered_since < 0 ? 0 : now_ - end.unanswered_since;
            if (passes(to, from)) end.unanswered_since = -1;
            if (connections_[number].forgotten) continue;
            // The next retransmission comes after about as long again as the silence has lasted.
            const Time resend = draw({0, std::min(silent, settings_.resend.max)});
            Time arrival =
                std::max(end.outgoing.last_arrival, now_ + resend + draw(settings_.delay));
            for (std::size_t i = 0; i < end.outgoing.size(); ++i) {
                if (end.outgoing[i].arrival != end_of_time) continue;
                end.outgoing[i].arrival = arrival;
                end.outgoing.last_arrival = arrival;
                queue_.push(arrival, Happening::parcel, number, other(side));
            }
        }
    }
}

}  // namespace bullring::sim
