// Faults on the way between two machines: their connections are ended by RST, forgotten, or ended
// by FINs that neither end has sent.
#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

void World::reset_sessions(HostIndex a, HostIndex b) {
    for (std::size_t number = 0; number < connections_.size(); ++number) {
        Connection& c = connections_[number];
        const HostIndex x = c.dialler().host;
        const HostIndex y = c.acceptor().host;
        if (!((x == a && y == b) || (x == b && y == a))) continue;
        if (!c.dialler().open && !c.acceptor().open) continue;
        for (const Side side : {dialler_side, acceptor_side}) {
            if (rng_.below(2) == 0) c.ends[other(side)].outgoing.clear();
            break_end(number, side, SessionEnd::reset, draw(settings_.delay));
        }
    }
}

void World::forget_sessions(HostIndex a, HostIndex b) {
    for (Connection& c : connections_) {
        const HostIndex x = c.dialler().host;
        const HostIndex y = c.acceptor().host;
        if ((x == a && y == b) || (x == b && y == a)) c.forgotten = true;
    }
}

void World::forge_fins(HostIndex a, HostIndex b) {
    for (std::size_t number = 0; number < connections_.size(); ++number) {
        const HostIndex x = connections_[number].dialler().host;
        const HostIndex y = connections_[number].acceptor().host;
        if (!((x == a && y == b) || (x == b && y == a))) continue;
        for (const Side side : {dialler_side, acceptor_side})
            break_end(number, side, SessionEnd::eof, draw(settings_.delay));
    }
}

void World::sever(std::size_t number, std::array<std::optional<SessionEnd>, 2> told) {
    Connection& c = connections_[number];
    c.forgotten = true;
    for (const Side side : {dialler_side, acceptor_side}) {
        c.ends[side].outgoing.clear();
        if (told[side]) break_end(number, side, *told[side], 0);
    }
}

void World::greet(HostIndex h, HostIndex stranger, const Hello& hello) {
    Connection connection;
    connection.ends[dialler_side].host = stranger;
    connection.ends[acceptor_side].host = h;
    for (End& end : connection.ends) end.run = hosts_[end.host].run;
    connection.dialler().open = false;
    connection.forgotten = true;
    connections_.push_back(std::move(connection));
    step(h,
         HelloReceived{
             session_id(connections_.size() - 1, acceptor_side), hello, {"acceptor", "dialler"}});
}

}  // namespace bullring::sim
