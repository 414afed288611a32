// One process and the machine it runs on.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/attach/candidacies.hpp"
#include "protocol/node.hpp"
#include "sim/world/client.hpp"
#include "sim/world/host_clock.hpp"

namespace bullring::sim {

enum class DiskState : std::uint8_t {
    good,
    failing,  // the next write fails
    torn,     // what is there can't be read: the process does not start
};

struct Disk {
    std::optional<protocol::Durable> file;
    std::vector<protocol::Durable> history;  // what it held before, for a roll-back
    DiskState state = DiskState::good;
    Time slow = 0;                // what each write takes beyond the usual
    Site written_at = Site::own;  // the cluster whose state it has, if there is any

    void write(const protocol::Durable& durable, Site site) {
        if (file)
            history.push_back(*file);
        else
            written_at = site;
        file = durable;
    }
};

/// The work that only the leader does.
struct Task {
    bool running = false;
    bool asked_to_end = false;
    bool hangs = false;  // does not end when asked to
    Epoch epoch;
};

/// The remaining actions of a step in whose middle the process was stopped.
struct Interruption {
    enum class Kind : std::uint8_t { none, pause, crash };
    Kind kind = Kind::none;
    std::size_t after_actions = 0;
};

/// A host's attempts to reach one peer's address.
struct Dialling {
    SessionId session;     // in use or being greeted; `no_session`: none
    bool attempt = false;  // a dial is scheduled or on its way
    Time pause = 10 * ms;  // before the next attempt; doubles
    std::uint32_t try_number = 0;
    bool elsewhere = false;  // the next attempt is where the peer calls from
};

struct Host {
    NodeId id;
    Site site = Site::own;
    bool impostor = false;  // nobody dials it: another host has the member's address
    std::optional<protocol::Node> node;
    std::uint32_t run = 0;
    Incarnation incarnation;
    HostClock clock;
    Disk disk;
    std::optional<Disk> own_disk;  // while it has a copy of another machine's, or an old one
    bool machine_up = true;        // its kernel answers
    Time started_at = -sec;
    Time not_before = 0;  // it has another disk, and by then all that it has promised is over
    bool paused = false;
    bool suspended = false;
    Time slow = 0;  // what each step takes
    Time busy_until = 0;
    Time wake_at = end_of_time;  // the earliest wake that is scheduled
    protocol::Publish published;
    std::optional<protocol::Candidacies> candidacies;  // who works: the task or a client
    Epoch works_under;           // the epoch that the candidacies have been given last
    Time look_at = end_of_time;  // the earliest look of theirs that is scheduled
    Task task;
    bool healthy = true;
    Interruption interruption;
    std::vector<protocol::Action> unfinished;    // of the step that it was stopped in,
    Instant unfinished_at;                       // and when that was, by its clock
    std::vector<Dialling> dialling;              // by peer
    protocol::Membership dials;                  // itself included
    std::map<HostIndex, HostIndex> readdressed;  // members that it dials elsewhere
    std::map<HostIndex, HostIndex> called_from;  // where members may be, too (C13.1)
    std::optional<protocol::Durable> writing;
    std::set<protocol::HolderKey> introduced;  // whose HELLO this run has read: their notices count
    std::vector<protocol::Event> local;        // happened while it was paused
    std::vector<std::pair<std::size_t, ClientSign>> unheard;  // likewise, by client
    std::vector<protocol::Event> to_tell;  // by the candidacies to the node, after its step

    bool running() const { return node.has_value(); }
    bool awake() const { return node.has_value() && !paused && !suspended; }
};

}  // namespace bullring::sim
