// Decides who works under a node's leadership: its own task, or one of the processes on its machine
// that are attached to it (protocol/attach/README.md). Pure: what happens goes in, orders come out;
// no clock, no process, no socket.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/values/actions.hpp"
#include "protocol/values/events.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"
#include "protocol/values/timing.hpp"

namespace bullring::protocol {

/// A connection of an attached process. The host numbers them from 1, and uses no number again.
struct ClientId {
    std::uint64_t value = 0;
    auto operator<=>(const ClientId&) const = default;
};

/// A client's wishes.
struct Candidacy {
    Duration stall_after{0};   // the longest time without a sign of progress while it works; 0: any
    std::string advertised{};  // of the node while it works; empty: what the node is told
    bool operator==(const Candidacy&) const = default;
};

class Candidacies {
public:
    // ---- Orders, to be carried out in their order.

    /// It works under this epoch until that instant, CLOCK_BOOTTIME in ns. To a client that does so
    /// already: the instant is a later one.
    struct Hold {
        ClientId client;
        Epoch epoch;
        std::int64_t valid_until_ns = 0;
        bool first = false;  // it is elected
    };
    /// It has to end its work until that instant; sent again with a later one.
    struct Stop {
        ClientId client;
        Epoch epoch;
        DeposedReason reason{};
        std::int64_t by_ns = 0;
        bool first = false;
    };
    /// Nothing of it counts any more.
    struct Release {
        ClientId client;
        Epoch epoch;
    };
    struct StartOwn {
        Epoch epoch;
    };
    struct StopOwn {
        Epoch epoch;
        DeposedReason reason{};
    };
    /// An event for the node.
    struct Tell {
        Event event;
    };
    using Order = std::variant<Hold, Stop, Release, StartOwn, StopOwn, Tell>;
    using Orders = std::vector<Order>;

    /// `own_task`: the node has work of its own, in turns with the clients. `beside`: it has some
    /// that goes on beside theirs, such as hooks.
    Candidacies(const Timing& timing, bool own_task, bool beside = false);

    // ---- The node.

    /// Once, before anything else.
    Orders on_open();
    /// It leads from now on.
    Orders on_start(Instant now, Epoch epoch);
    /// Its leadership is to end.
    Orders on_stop(Instant now, Epoch epoch, DeposedReason reason);
    /// Its leadership holds until then whatever becomes of its sessions (Publish.untied_until).
    Orders on_untied(Instant now, Epoch epoch, Instant until);
    /// Its own task has ended, or wants to work (again), or does not.
    Orders on_own_ended(Instant now, const TaskEnded& event);
    Orders on_own_willing(Instant now, bool willing);

    // ---- Clients. What a client may not do is answered with false.

    bool on_campaign(Instant now, ClientId client, const Candidacy& candidacy, Orders& orders);
    /// Its work has ended, or it does not stand any more. `again`: it stands for the next
    /// leadership, too.
    bool on_done(Instant now, ClientId client, bool again, Orders& orders);
    bool on_progress(Instant now, ClientId client);
    /// Its process has ended.
    Orders on_ended(Instant now, ClientId client);
    /// Its connection has ended, and its process may live.
    Orders on_closed(Instant now, ClientId client);

    Orders on_wake(Instant now);
    /// How long until on_wake() has something to do, by what is known; forever: nothing.
    Duration until_wake(Instant now) const;

    /// The client that works, or winds its work up; none: nobody does, or the node's own task.
    std::optional<ClientId> works() const;
    /// Clients that stand, the one that works included.
    std::size_t clients() const;

private:
    struct Candidate {
        ClientId client;  // 0: the node's own task
        Candidacy asks;
        bool own() const { return client == ClientId{}; }
    };
    enum class Phase : std::uint8_t {
        chosen,  // it works as soon as the lease stands without any session
        works,
        ends,  // it has been told to, or can't be told any more
    };
    struct Working {
        Candidate who;
        Phase phase = Phase::chosen;
        Instant progress_at{};
        Instant give_up_at = never;  // ends: the node, which may have recovered, is told by then
    };

    void choose(Instant now, Orders& orders);
    void begin_if_held(Instant now, Orders& orders);
    void stop_client(Instant now, DeposedReason reason, bool first, Orders& orders) const;
    void put_back(Orders& orders);
    void finish(Orders& orders, bool failed);
    void tell_work(Orders& orders);
    bool holds(ClientId client) const;
    bool wait_ended(ClientId client);

    Timing timing_;
    std::deque<Candidate> waiting_;
    bool own_willing_ = true;  // its own task has somebody to do it
    std::optional<Working> working_;
    Epoch leads_;          // from on_start() to the end of its work; 0: it does not lead
    bool ending_ = false;  // the node has asked for the end
    DeposedReason reason_{};
    Epoch untied_in_;  // the epoch of the next
    Instant untied_until_ = long_ago;
    Work without_;  // what the node would lead for without any client
    WorkChanged told_;
    bool tied_ = true;
};

}  // namespace bullring::protocol
