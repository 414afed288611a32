// One node among peers that say anything at all that the wire can carry, on sessions that open and
// end in any order, with clocks of which one may be wrong, crashes and restarts. What must hold
// whatever peers say: the protocol's own assertions; no lease beyond what was asked for, and none
// without the grants of a majority; no vote without a word on the disk, none while silent, no two
// holders of one epoch; nothing absurd becomes durable; no step without end and no growth without
// end. And afterwards, when those who lied have gone and all that they said has run out, sound
// peers still elect this node.
#include "tests/fuzz/step_host.hpp"

using namespace bullring;

namespace {

constexpr std::size_t events_max = 100;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    // It takes longer than all that comes before.
    const bool afterwards = input.below(16) == 1;
    fuzz::Host host(input);
    for (std::size_t events = 0; !input.empty() && events < events_max; ++events) {
        host.one_event();
        host.settle_timers();
    }
    if (afterwards) host.check_recovers();
    return 0;
}
