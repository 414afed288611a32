// The flags by which `run` and `sweep` fix what a seed would draw.
#pragma once

#include <string>

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
};

void add_swarm_flags(CLI::App& command, SwarmFlags& flags);

/// Throws CLI::ValidationError with what is wrong and what would be right.
SwarmOptions swarm_options(const SwarmFlags& flags);

/// The flags again, as text, so that a printed command replays the same.
std::string swarm_flags_text(const SwarmFlags& flags);

}  // namespace bullring::sim
