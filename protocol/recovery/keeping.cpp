#include "protocol/recovery/keeping.hpp"

#include <algorithm>

#include "protocol/membership/callers.hpp"
#include "protocol/membership/changing.hpp"

namespace bullring::protocol {

void keep_reserve(Parts& node, Step& step) {
    // C8.5: nothing is written before the floor is known: an hw on the disk says that all that this
    // node has ever granted is at most that.
    if (node.recovering() && !node.recovery.floor_known()) return;
    // R7.4: on a clean stop exactly the epochs used. R7.2: else ahead of them, in the background.
    if (node.leaving())
        node.reserve.want_exactly(std::max(node.voter.promise().vmax(), node.epoch()));
    else
        node.reserve.keep_ahead_of(node.max_seen);
    // H2.5: attached processes hold no lock, either. A stop in order ends after their work.
    const bool asked = node.gate.work() == Work::asked && !node.leaving();
    if (!node.recovering()) node.reserve.may_be_outlived(node.config().hooks || asked);
    // Once the node has run for as long as its longest promise, only what it gave in this run
    // counts, and what its peers will ask for.
    const Duration on_disk = node.reserve.on_disk().promised_max;
    Duration needed =
        std::max(node.timing().promise(node.timing().lease), node.voter.longest_given());
    if (!node.recovering() && needed < on_disk &&
        promise_over(step.now, node.setup.started() + on_disk)) {
        for (const Index i : node.setup.others())
            needed = std::max(needed, expected_promise(node, i));
        node.reserve.lower_promised_max(needed);
    }
    node.reserve.write(step, node.leaving());
}

bool all_written(const Parts& node) {
    if (!node.fenced() || node.reserve.all_written()) return true;
    return node.recovering() && !node.recovery.floor_known();
}

void on_persisted(Parts& node, Step& step, const Persisted& event) {
    const auto before = node.list().tag();
    const bool outlived = node.reserve.on_disk().hooks;
    node.reserve.on_persisted(event.durable);
    // H2.5: a client waits for this.
    if (!outlived && node.reserve.on_disk().hooks && node.tenure.leads())
        node.holder.renew_at_once(step.now);
    if (node.list().tag() == before) return;
    // C1.5: who has said to have that one when nobody here knew it may have another one.
    if (node.tenure.follows()) forget_who_has(node, node.list());
    step.act(MembersChanged{node.list(), node.cluster_id()});
    // C5: a list that its own vote settles has waited for this.
    if (node.tenure.leads()) node.holder.renew_at_once(step.now);
}

}  // namespace bullring::protocol
