// A path through a small world as text: the options it needs, and one move a line. What is written
// is read back as the same; what cannot be read is a sentence that says where.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/explore/move.hpp"
#include "sim/explore/small_world.hpp"

namespace bullring::sim::explore {

struct PathStep {
    Move move;
    std::string content;  // what it delivers, as a check; "" for none or any
    bool operator==(const PathStep&) const = default;
};

struct Path {
    SmallWorldOptions options;  // without the faults' bounds: a path brings its own
    StartState start = StartState::settled;
    std::vector<PathStep> steps;
};

/// "deliver 1>2 COORDINATOR", "wake 3", "reset 2>1/2": a session is named by who dialled whom and,
/// from the second on, by which of those dials it was.
std::string step_text(const PathStep& step);

/// `remark`: lines of text for the head.
std::string path_text(const Path& path, const std::string& remark);

struct PathProblem {
    std::string text;
};
std::variant<Path, PathProblem> read_path(std::string_view text);

/// Whether this is the text of a path, and not of a scenario.
bool is_path(std::string_view text);

}  // namespace bullring::sim::explore
