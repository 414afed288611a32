#include "sim/explore/neighbour.hpp"

#include <vector>

#include "protocol/values/member_change.hpp"
#include "sim/explore/world_state.hpp"

namespace bullring::sim::explore {

using namespace protocol;

HelloReceived greeting(const Config& greeted, const SessionName& dial) {
    const NodeId as{std::uint64_t{dial.acceptor} + 1};
    const SessionName unknown{dial.acceptor, dial.dialler, 0};
    const std::vector<NodeId> ids = greeted.members.ids();
    const MemberChange one_more{MemberChange::What::add, {ids.back().value + 1}, "x"};
    Hello hello;
    hello.version_lowest = version_with_tags;
    hello.cluster = "neighbours";
    hello.changed = with(Membership(ids), one_more, tag_of_neighbours);
    hello.members = hello.changed->ids();
    hello.algorithm = greeted.algorithm;
    hello.rho_ppm = greeted.timing.rho_ppm;
    hello.id = as;
    hello.incarnation = {UINT64_MAX - as.value};
    hello.lease = greeted.timing.lease;
    hello.heartbeat_period = greeted.timing.heartbeat;
    hello.had_file_at_start = true;
    return {session_id(unknown, false), hello, {"a", "d"}};
}

}  // namespace bullring::sim::explore
