// A small deterministic cluster for tests: nodes with simulated clocks and disks, joined by
// simulated TCP. One seed, one history. After every step it checks that at most one lease is valid
// and that the epochs of the elections rise.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/node.hpp"

namespace bullring::test {

using Time = std::int64_t;  // real nanoseconds since the world began

inline constexpr Time ms = 1'000'000;

struct WorldOptions {
    std::size_t nodes = 3;
    protocol::Algorithm algorithm = protocol::Algorithm::bully;
    std::uint64_t seed = 1;
    Time delay_min = ms / 5;
    Time delay_max = ms;
    Time fsync = 2 * ms;
    Time task_ending = 0;
    protocol::Profile profile = protocol::Profile::lan;
    std::function<void(protocol::Config&)> configure = [](protocol::Config&) {};
};

struct Election {
    Time at = 0;
    protocol::NodeId node;
    protocol::Epoch epoch;
};

class World {
public:
    explicit World(WorldOptions options);

    /// Starts a node that is not running (id 1 … N), with its disk if it has one.
    void start(std::uint64_t id);
    void start_all();
    /// kill -9: every socket of it sends FIN.
    void crash(std::uint64_t id) { end(id, true); }
    /// Power loss: silence.
    void power_off(std::uint64_t id) { end(id, false); }
    void pause(std::uint64_t id);
    void resume(std::uint64_t id);
    void lose_disk(std::uint64_t id) { host(id).disk.reset(); }
    void cut(std::uint64_t a, std::uint64_t b);
    void heal(std::uint64_t a, std::uint64_t b);
    /// Every session between the two ends by RST; dialled again at once.
    void reset_sessions(std::uint64_t a, std::uint64_t b);
    void give(std::uint64_t id, const protocol::Event& event);

    Time now() const { return now_; }
    void run_for(Time duration) {
        run_until(now_ + duration, [] { return false; });
    }
    /// True as soon as the condition holds after some event; false at the limit.
    bool run_until(Time limit, const std::function<bool()>& condition);
    bool run_until_leader(Time duration);

    bool running(std::uint64_t id) { return host(id).node.has_value(); }
    /// Who has a published lease that is valid by its own clocks now; `nobody` if none.
    protocol::NodeId leader();
    protocol::View view(std::uint64_t id);
    /// The node's state machine itself; only while it runs.
    const protocol::Node& node(std::uint64_t id) { return *host(id).node; }
    const std::vector<Election>& elections() const { return elections_; }
    const std::vector<std::string>& log() const { return log_; }
    /// The first broken promise of the protocol, if any.
    const std::string& violation() const { return violation_; }
    std::uint64_t messages() const { return messages_; }
    protocol::Rng& rng() { return rng_; }
    std::size_t persists() const { return persists_; }

private:
    struct Connection {
        std::uint64_t dialler = 0;
        std::uint64_t acceptor = 0;
        protocol::SessionId dialler_id;
        protocol::SessionId acceptor_id;
        std::uint64_t dialler_run = 0;
        std::uint64_t acceptor_run = 0;
        Time last_arrival[2] = {0, 0};  // to the acceptor, to the dialler: FIFO
        bool open[2] = {true, true};    // the acceptor's end, the dialler's end
        bool broken = false;            // nothing arrives any more
    };
    struct Host {
        std::optional<protocol::Node> node;
        std::optional<protocol::Durable> disk;
        std::uint64_t run = 0;
        std::uint64_t next_session = 1;
        double boottime_rate = 1;
        double raw_rate = 1;
        bool paused = false;
        std::vector<protocol::Event> backlog;
        protocol::Publish published;
        std::uint64_t wake_ticket = 0;
        std::map<std::uint64_t, protocol::SessionId> dialled;  // in use or being greeted, by peer
    };

    Host& host(std::uint64_t id) { return hosts_[id - 1]; }
    void at(Time when, std::function<void()> what);
    protocol::Instant clock(std::uint64_t id);
    void step(std::uint64_t id, const protocol::Event& event);
    void carry_out(std::uint64_t id, const protocol::Action& action);
    void publish(std::uint64_t id, const protocol::Publish& publish);
    void elected(std::uint64_t id, const protocol::Elected& elected);
    void send(std::uint64_t id, const protocol::Send& send);
    void close(std::uint64_t id, protocol::SessionId session);
    void dial(std::uint64_t id, std::uint64_t peer);
    void dial_later(std::uint64_t id, std::uint64_t peer);
    void arrive(std::uint64_t key, bool at_acceptor, const protocol::Event& event);
    void session_over(std::uint64_t key, bool at_acceptor, protocol::SessionEnd how);
    void end(std::uint64_t id, bool fin);
    void break_session(std::uint64_t key, Time dialler_notices, Time acceptor_notices);
    bool is_cut(std::uint64_t a, std::uint64_t b) const;
    void check();
    void say(const std::string& line);

    WorldOptions options_;
    protocol::Rng rng_;
    Time now_ = 0;
    std::uint64_t sequence_ = 0;
    std::map<std::pair<Time, std::uint64_t>, std::function<void()>> queue_;
    std::vector<Host> hosts_;
    std::map<std::uint64_t, Connection> connections_;
    std::uint64_t next_connection_ = 1;
    std::map<std::pair<std::uint64_t, std::uint64_t>, bool> cut_;
    std::vector<Election> elections_;
    std::vector<std::string> log_;
    std::string violation_;
    std::uint64_t messages_ = 0;
    std::size_t persists_ = 0;
};

}  // namespace bullring::test
