// The content of a trace as the things that a space-time diagram consists of: lanes, arrows, bars,
// marks. Owns the reading of meaning into lines; knows nothing of pixels and colours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/diagram/causality.hpp"
#include "protocol/diagram/looks.hpp"
#include "protocol/diagram/trace.hpp"
#include "protocol/diagram/words.hpp"

namespace bullring::protocol::diagram {

// All times are those of TraceRecord::t_ns.

enum class AbsenceKind : std::uint8_t {
    dead,
    paused,
    suspended,
    silent,  // real nodes: nothing was written for much longer than a heartbeat
};

struct Absence {
    std::int64_t from = 0;
    std::int64_t to = 0;
    AbsenceKind kind = AbsenceKind::dead;
    bool open = false;  // it was the trace that ended, not the absence
};

/// A leadership: the time in which is_leader() says yes.
struct LeaseBar {
    std::uint64_t epoch = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t until = 0;  // as far as the lease reaches, if its holder had not ended before
    bool given_up = false;   // ended by the node itself, neither by time nor by death
    bool open = false;       // it was the trace that ended, not the leadership
};

struct RoleBar {
    std::int64_t from = 0;
    std::int64_t to = 0;
    bool stepping_down = false;  // else a candidate
    std::uint64_t epoch = 0;
};

struct Follows {
    std::int64_t at = 0;
    std::uint64_t leader = 0;  // 0: none
};

struct Lane {
    std::uint64_t node = 0;
    std::string name;     // "3", or "3b" for a second process with its id at the same time
    bool traced = false;  // has lines of its own
    std::int64_t last_line = INT64_MIN;
    std::vector<Absence> absences;  // in order, without overlap
    std::vector<LeaseBar> leases;
    std::vector<RoleBar> roles;
    std::vector<Follows> follows;
};

enum class MarkShape : std::uint8_t {
    death,
    start,
    suspicion,
    trust,
    election,
    elected,
    deposed,
    follows,
    other,
};

struct Mark {
    Place lane = 0;
    std::int64_t at = 0;
    MarkShape shape = MarkShape::other;
    std::uint64_t about = 0;  // suspicion, trust, follows: whom
    std::string label;        // suspicion, trust: without whom it is about
    std::string tip;
    std::size_t record = no_record;  // none for a death
};

enum class Fate : std::uint8_t {
    delivered,
    lost,
    open,       // the trace ends before it could arrive, or its receiver wrote none
    no_sender,  // the sending is not in the trace
};

struct Arrow {
    Place from = 0;
    Place to = 0;
    std::int64_t sent = 0;
    std::int64_t received = 0;
    Fate fate = Fate::delivered;
    Look look = Look::other;
    std::size_t sending = no_record;  // records; none for what the kernel says
    std::size_t receipt = no_record;
};

struct LinkChange {
    std::int64_t at = 0;
    bool cut = false;  // else healed
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

struct Death {
    Place lane = 0;
    std::int64_t at = 0;
    bool silent = false;   // nothing reports it to the others
    bool orderly = false;  // it stopped
};

struct Model {
    Trace trace;  // sorted by time
    Matching matching;
    std::vector<Place> place_of;      // by record; `no_place` for what is nobody's own affair
    std::vector<std::size_t> events;  // the records that are no messages
    std::vector<Lane> lanes;          // by node
    std::vector<Arrow> arrows;        // by sending
    std::vector<Mark> marks;
    std::vector<LinkChange> links;
    std::vector<Death> deaths;
    EpochNames epochs;
    std::int64_t begin = 0;  // of the trace
    std::int64_t end = 0;

    std::string node_name(Place lane) const { return "node " + lanes[lane].name; }
    /// The lane on which this node is alive at that time, or its first.
    std::optional<Place> lane_of(std::uint64_t node, std::int64_t at) const;
    const Absence* absence(Place lane, std::int64_t at) const;
    /// "leads", "follows 4", "dead", …; empty when nothing is known.
    std::string state(Place lane, std::int64_t at) const;
};

inline constexpr Place no_place = static_cast<Place>(-1);

Model make_model(Trace trace);

// ---- The steps of make_model that have files of their own.

/// Fills lanes (but not their bars), place_of, deaths. A simulator says when a process dies or
/// stands still. Of a real one only its silence shows this, and the others' word that they have
/// read the end of its connections.
void make_lanes(Model& model);

/// Fills arrows; needs lanes, place_of, deaths. The end of a dead process's connections becomes
/// arrows, too: what the others say that they have read.
void make_arrows(Model& model);

}  // namespace bullring::protocol::diagram
