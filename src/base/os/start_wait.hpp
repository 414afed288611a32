// Owns: the wait, at a node's start, for what time or another program mends: a file, a name, an
// interface. What only an edit can mend is not waited for.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bullring {

/// The things that are in the way, a sentence each.
using Obstacles = std::vector<std::string>;

/// Returns when `look`, which is called once a second, finds nothing in the way: true if it did at
/// first. What is new is said at once, and again after 1, 2, 4 … 64 minutes; the service manager
/// has it as the status. Meanwhile SIGTERM and SIGINT end the program with 0, for it has not
/// begun, and SIGHUP makes it look. Before there are threads.
bool wait_to_start(const std::function<Obstacles()>& look,
                   const std::function<void(const std::string&)>& say);

}  // namespace bullring
