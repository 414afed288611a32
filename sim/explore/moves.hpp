// The rules of a world that is moved by hand: which moves are possible, and what each does. The
// same world and the same move give the same world, on every host.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/move.hpp"
#include "sim/world/world.hpp"

namespace bullring::sim::explore {

/// All that can happen next, what goes on by itself first, and of these faults.
void find_moves(const World& world, FaultKinds faults, std::vector<Move>& out);
bool possible(const World& world, const Move& move);
/// The move is possible.
void make(World& world, const Move& move);
/// From a world in which nothing runs to where its moves begin, as its settings say.
void begin(World& world);

/// The longest that anything in the protocol looks back, and a little. (But for how long a user's
/// last resign has been over: an hour.)
Duration longest_look_back(const protocol::Config& config, bool without_files);
/// That end has something to read.
bool is_readable(const World& world, const Connection& connection, Side reader);
/// The name of what the move delivers; "" if it delivers nothing.
std::string content_name(const World& world, const Move& move);

}  // namespace bullring::sim::explore
