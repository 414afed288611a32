// Attached processes: what they do, what the host's process hears of it, and what it tells them.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

void World::attach(HostIndex h) {
    if (!hosts_[h].running() || settings_.quorum == QuorumMode::none) return;
    const std::size_t number = clients_.size();
    Client& client = clients_.emplace_back();
    client.host = h;
    client.run = hosts_[h].run;
    client.id = {number + 1};
    tell({.kind = "client attaches", .host = h, .detail = {}});
    sign(number, ClientSign::campaign);
}

std::optional<std::size_t> World::client_of(HostIndex h) const {
    std::optional<std::size_t> found;
    for (std::size_t number = 0; number < clients_.size(); ++number) {
        const Client& client = clients_[number];
        if (client.host != h || !client.lives) continue;
        if (client.page.epoch) return number;
        found = number;
    }
    return found;
}

bool World::page_is_valid(const Client& client) const {
    return client.page.epoch && clock(client.host).boottime_ns < client.page.valid_until_ns;
}

bool World::may_work(const Client& client) const {
    if (page_is_valid(client)) return true;
    return client.lives && clock(client.host).boottime_ns < client.works_until_ns;
}

void World::kill_client(std::size_t number, bool leaves_child) {
    Client& client = clients_[number];
    if (!client.lives) return;
    tell({.kind = leaves_child ? "client forks and ends" : "client killed",
          .host = client.host,
          .detail = {}});
    client.lives = client.told = false;
    // Two descriptors, in any order.
    sign(number, ClientSign::ended);
    if (!leaves_child && std::exchange(client.connected, false)) sign(number, ClientSign::closed);
}

void World::close_client(std::size_t number) {
    if (!std::exchange(clients_[number].connected, false)) return;
    tell({.kind = "client closes", .host = clients_[number].host, .detail = {}});
    sign(number, ClientSign::closed);
}

void World::stop_client(std::size_t number, bool stopped) {
    Client& client = clients_[number];
    if (client.stopped == stopped) return;
    tell(
        {.kind = stopped ? "client stopped" : "client goes on", .host = client.host, .detail = {}});
    client.stopped = stopped;
    if (!stopped && client.told) heed(number);
}

void World::deafen_client(std::size_t number, bool deaf) {
    Client& client = clients_[number];
    client.deaf = deaf;
    if (!deaf && client.told) heed(number);
}

void World::end_work(std::size_t number, bool again) {
    Client& client = clients_[number];
    client.told = false;
    client.works_until_ns = 0;
    client.ended = client.works_in;
    if (!client.connected) return;
    sign(number, again ? ClientSign::done : ClientSign::over);
}

/// It has been told to end, and does so in its own time.
void World::heed(std::size_t number) {
    Client& client = clients_[number];
    if (!client.lives || client.stopped || client.deaf) return;
    client.said_at = now_ + draw(settings_.task_ending);
    end_work(number, client.again);
}

// ---- What the host's process hears.

void World::sign(std::size_t number, ClientSign what) {
    Client& client = clients_[number];
    if (what == ClientSign::closed || what == ClientSign::ended)
        return queue_.push(now_ + draw({0, 200 * us}), Happening::client, number, client.run,
                           static_cast<std::uint64_t>(what));
    client.said_at = std::max(client.said_at, now_) + draw({0, 200 * us});
    queue_.push(client.said_at, Happening::client, number, client.run,
                static_cast<std::uint64_t>(what));
}

void World::hear(std::size_t number, std::uint32_t run, ClientSign what) {
    Host& host = hosts_[clients_[number].host];
    if (!is_run(clients_[number].host, run)) return;
    if (!host.awake()) {
        host.unheard.emplace_back(number, what);
        return;
    }
    const HostIndex h = clients_[number].host;
    const ClientId id = clients_[number].id;
    Candidacies::Orders orders;
    switch (what) {
        case ClientSign::campaign: host.candidacies->on_campaign(clock(h), id, {}, orders); break;
        case ClientSign::done:
        case ClientSign::over:
            host.candidacies->on_done(clock(h), id, what == ClientSign::done, orders);
            break;
        case ClientSign::closed: orders = host.candidacies->on_closed(clock(h), id); break;
        case ClientSign::ended: orders = host.candidacies->on_ended(clock(h), id); break;
    }
    obey(h, orders);
    tell_node(h);
}

void World::look(HostIndex h, std::uint32_t run) {
    Host& host = hosts_[h];
    if (!is_run(h, run)) return;
    host.look_at = end_of_time;
    if (!host.awake()) return;
    // While the node steps down it goes on renewing, which is not published.
    const Instant untied = host.node->parts().holder.lease().untied_deadline();
    if (host.candidacies->works())
        obey(h, host.candidacies->on_untied(clock(h), host.works_under, untied));
    obey(h, host.candidacies->on_wake(clock(h)));
    tell_node(h);
}

// ---- What it does about it.

void World::obey(HostIndex h, const Candidacies::Orders& orders) {
    for (const Candidacies::Order& order : orders)
        std::visit([&](const auto& what) { carry_out(h, what); }, order);
    Host& host = hosts_[h];
    const Duration wait = host.candidacies->until_wake(clock(h));
    if (wait >= forever) return;
    const Time when = now_ + host.clock.real(wait);
    if (when >= host.look_at) return;
    host.look_at = when;
    queue_.push(when, Happening::look, h, host.run);
}

void World::carry_out(HostIndex h, const Candidacies::Hold& order) {
    write_page(h, order.client, {order.epoch, order.valid_until_ns});
    if (order.first) tell({.kind = "client elected", .host = h, .detail = {}});
}

void World::carry_out(HostIndex h, const Candidacies::Stop& order) {
    write_page(h, order.client, {});
    if (!order.first) return;
    tell({.kind = "client told to end", .host = h, .detail = {}});
    const std::size_t number = order.client.value - 1;
    clients_[number].told = true;
    heed(number);
}

void World::carry_out(HostIndex h, const Candidacies::Release& order) {
    write_page(h, order.client, {});
}

void World::carry_out(HostIndex h, const Candidacies::StartOwn& order) {
    Host& host = hosts_[h];
    host.task = {true, false, host.task.hangs, order.epoch};
}

void World::carry_out(HostIndex h, const Candidacies::StopOwn& order) { stop_task(h, order.epoch); }

void World::carry_out(HostIndex h, const Candidacies::Tell& order) {
    hosts_[h].to_tell.push_back(order.event);
}

void World::write_page(HostIndex h, ClientId id, ClientPage page) {
    Client& client = clients_[id.value - 1];
    client.page = page;
    if (page.epoch) client.works_in = page.epoch;
    // News of the work that it has ended says nothing to it.
    if (page.epoch && page.epoch != client.ended)
        client.works_until_ns = std::max(client.works_until_ns, page.valid_until_ns);
    for (Observer* observer : observers_.all) observer->on_page(*this, h, client);
}

/// Not within a step of it; what a process that stands still has to tell waits for its going on.
void World::tell_node(HostIndex h) {
    const std::uint32_t run = hosts_[h].run;
    while (is_run(h, run) && hosts_[h].awake() && !hosts_[h].to_tell.empty()) {
        Host& host = hosts_[h];
        const Event event = host.to_tell.front();
        host.to_tell.erase(host.to_tell.begin());
        step(h, event);
    }
}

void World::own_task_ended(HostIndex h, const TaskEnded& ended) {
    obey(h, hosts_[h].candidacies->on_own_ended(clock(h), ended));
    tell_node(h);
}

/// N2.4: it is killed, and works until then, whatever its page says.
Time World::end_with_node(Client& client) {
    const Duration lives{draw({0, 5 * ms})};
    const std::int64_t until = clock(client.host).boottime_ns + lives.ns;
    client.page.valid_until_ns = std::min(client.page.valid_until_ns, until);
    client.works_until_ns = std::min(client.works_until_ns, until);
    tell({.kind = "client ended with its node", .host = client.host, .detail = {}});
    return hosts_[client.host].clock.real(lives);
}

/// The machine is gone, and they with it.
void World::lose_clients(HostIndex h) {
    for (Client& client : clients_) {
        if (client.host != h) continue;
        client.lives = client.told = false;
        client.page = {};
        client.works_until_ns = 0;
    }
}

}  // namespace bullring::sim
