#include "protocol/recovery/twins.hpp"

#include <algorithm>

#include "protocol/lease/campaign.hpp"
#include "protocol/values/dialling.hpp"

namespace bullring::protocol {

// R6.14: another process with this id votes elsewhere, or did so until a moment ago. It may be one
// whose directory is not this node's, so nothing is known of its promises but that none is longer
// than lease-max. The next refusal renews this silence, and comes later when this node cannot dial
// that peer at once.
void told_of_twin(Parts& node, Step& step, Peer& by) {
    if (!node.fenced()) return;
    by.hears_twin = true;
    // R6.15
    by.twin_over = step.now + node.setup.longest_promise() + redial_max;
    abandon(node, step, Duration{0});
}

// R6.16: now that process is gone, as far as `by` can tell. Usually it was this node's earlier run,
// whose FIN came late: what it may have promised is as long as after any restart, but from now.
void taken_after_twin(const Parts& node, Peer& by, Instant now) {
    if (!by.hears_twin) return;
    by.hears_twin = false;
    if (promise_over(now, by.twin_over)) return;
    const Recovery::Silence quiet = node.recovery.silence(now, node.peers);
    const Duration forgotten = quiet.known ? std::max(elapsed(node.setup.started(), quiet.until),
                                                      node.reserve.promised_max())
                                           : node.setup.longest_promise();
    by.twin_over = now + std::min(forgotten, node.setup.longest_promise());
}

}  // namespace bullring::protocol
