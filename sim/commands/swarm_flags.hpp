// The flags by which `run` and `sweep` fix what a seed would draw.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "sim/swarm/swarm.hpp"

namespace bullring::sim {

struct SwarmFlags {
    std::string nodes;
    std::string algorithm;
    std::string profile;
    std::string quorum;
    std::string duration;
    std::string faults;
    bool members = false;
    bool clients = false;
    bool neighbours = false;
};

void add_swarm_flags(CLI::App& command, SwarmFlags& flags);

/// A seed, or another count on the command line: 0 … 2^63-1.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// Throws CLI::ValidationError with what is wrong and what would be right.
SwarmOptions swarm_options(const SwarmFlags& flags);

/// The flags again, as text, so that a printed command replays the same.
std::string swarm_flags_text(const SwarmFlags& flags);

}  // namespace bullring::sim
