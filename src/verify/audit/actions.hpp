// Owns: what was asked of the nodes and by whom, and their starts and stops, gathered from the
// event streams of all of them: the trail that answers "who took node 3 out on Sunday".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/node/report/event_line.hpp"

namespace bullring::audit {

class Actions {
public:
    void note(const EventLine& event);

    /// Both in the order of the wall clocks. A line each.
    std::string text() const;
    std::string json() const;

private:
    struct Action {
        std::int64_t time_ns = 0;
        std::uint64_t node = 0;
        Asked what;  // also of a start and of a stop
    };
    std::vector<const Action*> by_time() const;

    std::vector<Action> all_;
};

}  // namespace bullring::audit
