// I7 of two processes with one id: a node that a peer has refused, because that peer hears another
// process with its id, grants nothing while votes of that other one may still count.
#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

void Checks::note_twin(const World& world, HostIndex h, Instant now, const Receive& receive) {
    if (World::side_of(receive.session) != dialler_side) return;
    const HostIndex peer = world.connection_of(receive.session).ends[acceptor_side].host;
    auto& twins = of_[h].twins;
    const Timing& timing = world.config(h).timing;
    const auto length = [&](Duration lease) {
        return Ledger::promise(lease, world.settings().rho_ppm);
    };
    if (const auto* refused = std::get_if<Refused>(&receive.message)) {
        if (refused->mine.find("another process") == std::string::npos) return;
        if (world.cluster_of(peer) != world.cluster_of(h)) return;
        coverage_.count(Seen::told_of_twin);
        // It may take a while until this peer can be dialled again and answers.
        twins[peer] = {now + length(timing.lease_max) + milliseconds(1500), false};
    } else if (std::holds_alternative<HelloAck>(receive.message) && twins.count(peer) != 0) {
        // It is taken: from now it is silent at least as long as after a restart, unless the other
        // one was gone long enough before.
        auto& [over, taken] = twins[peer];
        if (!taken && !promise_over(now, over)) over = now + length(timing.lease);
        taken = true;
    }
}

void Checks::check_twin_silence(const World& world, HostIndex h, Instant now) {
    for (const auto& [peer, twin] : of_[h].twins) {
        const Instant over = twin.over;
        if (promise_over(now, over)) continue;
        fail(world, "I7",
             fmt::format("node {} makes a promise {} ns before votes of another process with its "
                         "id, of which node {} has told it, are over",
                         world.host(h).id.value, promise_left(now, over).ns,
                         world.host(peer).id.value));
    }
}

}  // namespace bullring::sim
