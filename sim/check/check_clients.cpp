// Attached processes. I23: while one may work, for its page says so, or has said so for longer and
// the process has not ended its work, no other one may, no other node leads, and no task of its own
// node runs.
#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

void Checks::on_page(const World& world, HostIndex h, const Client& client) {
    if (!world.page_is_valid(client)) return;
    leads_in_[client.id] = founding(world, h);  // its node may be dead when that is asked
    for (const Client& other : world.clients())
        if (other.id != client.id && world.may_work(other) &&
            leads_in_[other.id] == founding(world, h))
            fail(world, "I23",
                 fmt::format("client {} on node {} leads in epoch {} while client {} on node {} "
                             "may work",
                             client.id.value, world.host(h).id.value, client.page.epoch.value,
                             other.id.value, world.host(other.host).id.value));
    for (HostIndex o = 0; o < world.hosts(); ++o)
        if (o != h && world.leads(o) && founding(world, o) == founding(world, h))
            fail(world, "I23",
                 fmt::format(
                     "client {} on node {} leads in epoch {} while node {} leads in epoch {}",
                     client.id.value, world.host(h).id.value, client.page.epoch.value,
                     world.host(o).id.value, world.host(o).published.epoch.value));
    check_alone(world, h);
}

/// At the publication of a leadership.
void Checks::check_no_page_elsewhere(const World& world, HostIndex h) {
    for (const Client& client : world.clients())
        if (client.host != h && world.may_work(client) &&
            leads_in_[client.id] == founding(world, h))
            fail(world, "I23",
                 fmt::format("node {} leads while client {} on node {} may work",
                             world.host(h).id.value, client.id.value,
                             world.host(client.host).id.value));
}

void Checks::check_alone(const World& world, HostIndex h) {
    const Task& task = world.host(h).task;
    if (!task.running) return;
    for (const Client& client : world.clients())
        if (client.host == h && world.may_work(client))
            fail(world, "I23",
                 fmt::format("the task of node {} runs in epoch {} while client {} may work",
                             world.host(h).id.value, task.epoch.value, client.id.value));
}

/// I10 for those who work in processes of their own.
void Checks::check_pages_empty(const World& world, HostIndex h, Epoch resigned) {
    for (const Client& client : world.clients())
        if (client.host == h && client.page.epoch == resigned)
            fail(world, "I10",
                 fmt::format("node {} sends RESIGN of epoch {} while the page of client {} says "
                             "that it leads",
                             world.host(h).id.value, resigned.value, client.id.value));
}

void Checks::count_client(const Incident& incident) {
    if (incident.kind == "client elected") coverage_.count(Seen::client_elected);
    if (incident.kind == "client ended with its node")
        coverage_.count(Seen::client_ended_with_its_node);
    if (incident.kind == "client told to end") coverage_.count(Seen::client_told_to_end);
}

}  // namespace bullring::sim
