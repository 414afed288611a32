// A restarted node asks the others what it has promised, and need not wait until all that it can
// have promised is over (PROTOCOL R6).
#pragma once

#include <optional>

#include "protocol/parts.hpp"

namespace bullring::protocol {

Recall recall(const Parts& node, Instant now, Index i, const Hello& hello);
/// That member's answer to this node, as far as it still is one.
Recall::Answer told_by(const Parts& node, Index i);

/// By one member's answer: a promise of an earlier run.
struct Held {
    PromiseRequest promise;
    Instant since;
};
std::optional<Held> held(const Parts& node);
/// By the answers of all others no promise of an earlier run is counted.
bool nothing_held(const Parts& node);
/// And none of them has met an earlier run or had a file: a new cluster begins.
bool all_are_new(const Parts& node);

}  // namespace bullring::protocol
