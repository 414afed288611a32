// Tells the story of a trace: when there was no leader, why, and who took over; and which part of
// it a picture or an export is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/diagram/model.hpp"

namespace bullring::protocol::diagram {

/// From the end of one leadership to the beginning of the next.
struct Episode {
    std::int64_t cause = 0;    // what began it, such as the leader's death
    std::int64_t lost = 0;     // nobody led from here
    std::int64_t begin = 0;    // the first node that did something about it
    std::int64_t end = 0;      // elected; or where the trace ends
    std::int64_t settled = 0;  // the last node that learnt of it
    std::optional<Place> winner;
    std::uint64_t epoch = 0;
    bool replaces = false;  // there was a leader before
    std::string why;        // "node 5 dies"
};

/// In order.
std::vector<Episode> find_episodes(const Model& model);

struct Window {
    std::int64_t from = 0;
    std::int64_t to = 0;
};

/// The part of a trace that is worth seeing: all of a short one; of a long one the last changes of
/// leader, as many as fit into one picture.
Window choose_window(const Model& model, const std::vector<Episode>& episodes);

/// "node 5 dies: node 4 is elected 1.03 ms later". Empty when nothing happens in the window.
std::string headline(const Model& model, const std::vector<Episode>& episodes, Window window);

/// The records in the window, in order; heartbeats, renewals and handshakes only when wished.
std::vector<std::size_t> select_records(const Model& model, Window window, bool heartbeats);

}  // namespace bullring::protocol::diagram
