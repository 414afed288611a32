// Plays a scenario: does what its lines say when they say it, and judges what they expect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/coverage.hpp"
#include "sim/check/violation.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/world/observer.hpp"

namespace bullring::sim {

/// How long the wait for something that a scenario expects has taken.
struct Waited {
    std::string check;
    Time took = 0;
    Time limit = 0;
};

struct Outcome {
    std::optional<Violation> violation;
    int violated_line = 0;     // of the file; 0: none, or in between
    std::uint64_t digest = 0;  // of all that happened
    Coverage coverage;
    std::vector<Waited> waited;
    Time simulated = 0;
    std::uint64_t steps = 0;
    std::uint64_t delivered = 0;
    std::uint64_t elections = 0;
    std::optional<Time> picture_begins;  // where the scenario wants its picture
    std::optional<Time> picture_ends;
};

struct RunOptions {
    std::vector<Observer*> observers;  // besides the checks
    bool judge = true;                 // false: expectations are waited for, but not judged
};

/// Runs a scenario of one algorithm to the end of its commands or to the first violation.
Outcome run(const Scenario& scenario, const RunOptions& options = {});

}  // namespace bullring::sim
