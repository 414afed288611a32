// One call of Node::step, as it is handed through the parts of a node.
#pragma once

#include <utility>
#include <vector>

#include "protocol/values/actions.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// The instant, and where the actions go.
struct Step {
    Instant now;
    std::vector<Action>& out;

    template <class A>
    void act(A&& action) {
        out.emplace_back(std::forward<A>(action));
    }
};

}  // namespace bullring::protocol
