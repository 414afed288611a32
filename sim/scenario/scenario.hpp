// A story as data: the settings of a world, and what happens in it when. What a person writes into
// a scenario file, what the swarm draws from a seed and what shrinking cuts down are the same
// thing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/explore/move.hpp"
#include "sim/world/settings.hpp"

namespace bullring::sim {

/// Whom a command is about. `leader`, `follower` and so on are looked up when the time has come.
struct Target {
    enum class Kind : std::uint8_t {
        none,
        id,
        all,
        leader,    // whose lease is valid; nothing happens when there is none
        follower,  // the lowest running one that does not lead
        highest,   // the running one of the highest id
        best,      // the running follower of the highest id
        second,    // the newest second process, running or not
    };
    Kind kind = Kind::none;
    NodeId id;
    Site site = Site::own;
    bool operator==(const Target&) const = default;
};

enum class Verb : std::uint8_t {
    start,
    crash,  // word: "", "reset"; number > 0: within the next step, after number−1 actions
    power_off,
    stop,
    pause,  // number > 0: within the next step, after number−1 actions
    resume,
    suspend,
    slow,       // duration: what each step takes
    rates,      // number: boottime ppm, number2: raw ppm
    second,     // a second process with this id
    readdress,  // a dials the member b at its second process' address from now on
    mistake,    // everybody of a's cluster dials a where b is from now on
    disk,  // word: lost torn older failing good slow (duration) copied (from b) predecessor own
    cut,   // a, b; word ">" (one way) or "-"
    heal,  // a, b; or a = all
    isolate,
    graph,  // links: exactly these are whole
    reset,
    forget,
    forge_fin,
    flip,     // one bit of the next frame between a and b
    lie,      // a, b; word: message and field; number: what the next one says
    resign,   // a = who is asked, b = to
    members,  // a = whose vote or membership, word: how it changes; b = who is asked
    health,   // word: bad good
    stall,
    task,     // word: ends fails hangs returns
    attach,   // a process to a's
    client,   // word: what the attached process on a does: done leaves killed forks closes …
    calm,     // everything is mended, everybody runs
    mark,     // what is counted begins here
    picture,  // word: begins ends; the part of the run that is drawn
    expect_leader,        // a: who (none: anybody); duration: within
    expect_no_leader,     // duration: for
    expect_steady,        // duration: nobody is elected or deposed, and at most one leads
    expect_elections,     // number: at most so many since the mark
    expect_same_leader,   // as at the mark, in the same epoch
    expect_higher_epoch,  // than at the mark
    expect_epoch,         // number
    expect_no_fsync,      // since the mark
    expect_deposed,       // a, word: the reason; since the mark
    expect_holder,        // a: an attached process on it leads (none: on any); duration: within
    expect_members,       // word: who votes and who does not, by the leader's list
    wait,                 // duration
    move,                 // of a world that is moved by hand; word: what it delivers, "": any
};

struct Command {
    bool relative = false;  // to the end of the command before
    Time at = 0;
    Verb verb = Verb::start;
    Target a;
    Target b;
    Time duration = -1;
    std::int64_t number = 0;
    std::int64_t number2 = 0;
    std::string word;
    std::vector<std::pair<NodeId, NodeId>> links;
    explore::Move move;
    std::string check;  // "as L4": the name under which it fails
    int line = 0;       // of the file; 0: from no file
    bool operator==(const Command& o) const {
        return relative == o.relative && at == o.at && verb == o.verb && a == o.a && b == o.b &&
               duration == o.duration && number == o.number && number2 == o.number2 &&
               word == o.word && links == o.links && move == o.move && check == o.check;
    }
};

struct Scenario {
    std::vector<std::string> about;  // the comment at its head
    Settings settings;
    bool both_algorithms = false;  // it holds for either; settings.algorithm is the first of them
    std::vector<Command> commands;
    bool operator==(const Scenario& o) const {
        return settings == o.settings && both_algorithms == o.both_algorithms &&
               commands == o.commands;
    }
};

}  // namespace bullring::sim
