#include "sim/world/world.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace bullring::sim {

using namespace protocol;

World::World(const Settings& settings)
    : settings_(settings), rng_(settings.seed), links_(homes() + impostors_max), actions_() {
    if (by_hand()) queue_.close();
    hosts_.resize(homes());
    configs_.reserve(hosts_.size() + impostors_max);
    for (HostIndex h = 0; h < hosts_.size(); ++h) {
        Host& host = hosts_[h];
        const bool member = h < members();
        host.site = host.disk.written_at = member ? Site::own : Site::neighbour;
        host.id = member ? settings_.ids[h] : settings_.neighbours[h - members()];
        host.dialling.resize(members());
        const auto drift = [this] {
            const auto spread = static_cast<std::int64_t>(settings_.drift_ppm);
            return static_cast<std::int64_t>(
                       rng_.below(static_cast<std::uint64_t>(2 * spread) + 1)) -
                   spread;
        };
        const auto offset = static_cast<std::int64_t>(h + 1) * 100 * sec;
        host.clock = by_hand() ? HostClock(clocks_by_hand(h, homes()), {})
                               : HostClock({offset, 3 * offset}, {drift(), drift()});
        configs_.push_back(config_of(settings_, host.id, host.site));
    }
}

std::optional<HostIndex> World::host_of(NodeId id, Site site) const {
    const bool own = site == Site::own;
    const std::vector<NodeId>& ids = own ? settings_.ids : settings_.neighbours;
    const auto found = std::lower_bound(ids.begin(), ids.end(), id);
    if (found == ids.end() || *found != id) return std::nullopt;
    return static_cast<HostIndex>(found - ids.begin()) + (own ? 0 : members());
}

std::optional<HostIndex> World::host_of(Incarnation run) const {
    for (HostIndex h = 0; h < hosts_.size(); ++h)
        if (hosts_[h].incarnation == run) return h;
    return std::nullopt;
}

bool World::leads(HostIndex h) const {
    const Host& host = hosts_[h];
    return host.running() && host.published.epoch &&
           lease_valid(host.clock.read(now_), host.published.deadline);
}

std::optional<HostIndex> World::leader(Site site) const {
    for (HostIndex h = 0; h < hosts_.size(); ++h)
        if (hosts_[h].site == site && cluster_of(h) != Site::predecessor && leads(h)) return h;
    return std::nullopt;
}

void World::tell(const Incident& incident) {
    for (Observer* observer : observers_.all) observer->on_incident(*this, incident);
}

// ---- Time.

bool World::advance(Time limit) {
    if (queue_.next_at() > limit) {
        now_ = std::max(now_, limit);
        return false;
    }
    const Scheduled next = queue_.pop();
    now_ = next.at;
    handle(next);
    return true;
}

void World::handle(const Scheduled& what) {
    const auto h = static_cast<HostIndex>(what.a);
    const auto connection = static_cast<std::size_t>(what.a);
    switch (what.what) {
        case Happening::wake: {
            Host& host = hosts_[h];
            if (!is_run(h, what.b) || host.wake_at > now_) return;
            host.wake_at = end_of_time;
            if (!host.awake()) return;  // its timers are armed again when it goes on
            if (host.busy_until > now_) {
                host.wake_at = host.busy_until;
                return queue_.push(host.wake_at, Happening::wake, h, host.run);
            }
            return step(h, Wake{});
        }
        case Happening::parcel: return read(connection, static_cast<Side>(what.b));
        case Happening::dial:
            hosts_[h].dialling[what.c].attempt = false;
            if (is_run(h, what.b)) dial(h, what.c);
            return;
        case Happening::connected:
            hosts_[h].dialling[what.c].attempt = false;
            if (is_run(h, what.b)) connected(h, what.c);
            return;
        case Happening::handshake_late: return handshake_late(connection);
        case Happening::unanswered: return unanswered(connection, static_cast<Side>(what.b));
        case Happening::broken: return end_noticed(connection, static_cast<Side>(what.b));
        case Happening::notice: return notice(h, what.c);
        case Happening::persisted: {
            Host& host = hosts_[h];
            if (!is_run(h, what.b) || !host.writing) return;
            const Durable durable = *host.writing;
            host.writing.reset();
            if (host.disk.state != DiskState::good) return die(h, Death::killed);
            write(host, durable);
            return give(h, Persisted{durable});
        }
        case Happening::client:
            return hear(static_cast<std::size_t>(what.a), what.b, static_cast<ClientSign>(what.c));
        case Happening::look: return look(h, what.b);
        case Happening::task_ended: {
            Task& task = hosts_[h].task;
            if (!is_run(h, what.b) || !task.asked_to_end || task.epoch.value != what.c) return;
            if (task.hangs) return;
            task.running = false;
            task.asked_to_end = false;
            return give(h, TaskEnded{task.epoch, false, false});
        }
    }
}

void World::happen(Time at, Happening what, std::uint64_t a, std::uint32_t b, std::uint64_t c) {
    now_ = std::max(now_, at);
    handle({at, 0, a, b, c, what});
}

// ---- Steps.

void World::give(HostIndex h, Event event) {
    Host& host = hosts_[h];
    if (!host.running()) return;
    if (!host.awake()) {
        host.local.push_back(std::move(event));
        return;
    }
    if (const auto* ended = std::get_if<TaskEnded>(&event)) return own_task_ended(h, *ended);
    step(h, event);
}

void World::step(HostIndex h, const Event& event) {
    Host& host = hosts_[h];
    const Instant instant = clock(h);
    if (host.slow != 0) host.busy_until = now_ + host.slow;
    for (Observer* observer : observers_.all) observer->before_step(*this, h, instant, event);
    actions_.clear();
    host.node->step(instant, event, actions_);
    ++steps_;
    const std::uint32_t run = host.run;
    for (std::size_t i = 0; i < actions_.size(); ++i) {
        if (host.interruption.kind != Interruption::Kind::none &&
            i >= host.interruption.after_actions) {
            const Interruption::Kind kind = std::exchange(host.interruption, {}).kind;
            if (kind == Interruption::Kind::crash) return die(h, Death::killed);
            host.unfinished.assign(actions_.begin() + static_cast<std::ptrdiff_t>(i),
                                   actions_.end());
            host.unfinished_at = instant;
            pause(h);
            break;
        }
        for (Observer* observer : observers_.all)
            observer->on_action(*this, h, instant, actions_[i]);
        carry_out(h, actions_[i]);
        if (!is_run(h, run)) return;
    }
    for (Observer* observer : observers_.all) observer->after_step(*this, h, instant);
    arm(h);
    tell_node(h);
}

void World::carry_out_rest(HostIndex h, std::vector<Action> rest) {
    const std::uint32_t run = hosts_[h].run;
    const Instant instant = hosts_[h].unfinished_at;
    for (const Action& action : rest) {
        for (Observer* observer : observers_.all) observer->on_action(*this, h, instant, action);
        carry_out(h, action);
        if (!is_run(h, run)) return;
    }
    for (Observer* observer : observers_.all) observer->after_step(*this, h, instant);
    tell_node(h);
}

void World::arm(HostIndex h) {
    Host& host = hosts_[h];
    if (!host.awake()) return;
    const Duration wait = host.node->until_wake(clock(h));
    if (by_hand()) host.wake_at = end_of_time;
    if (wait >= forever) return;
    // A timer of a real host is some microseconds late, never early.
    const Time at =
        by_hand() ? now_ + wait.ns : std::max(now_ + host.clock.real(wait), host.busy_until);
    if (at >= host.wake_at) return;
    host.wake_at = at;
    queue_.push(at, Happening::wake, h, host.run);
}

void World::carry_out(HostIndex h, const Action& action) {
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            Host& host = hosts_[h];
            if constexpr (std::is_same_v<What, Send>) {
                send(what);
            } else if constexpr (std::is_same_v<What, CloseSession>) {
                close(what.session);
            } else if constexpr (std::is_same_v<What, DialNow>) {
                if (const auto peer = host_of(what.peer)) {
                    note_call(h, *peer, what.calls_from);
                    host.dialling[*peer].pause = 10 * ms;
                    dial_after(h, *peer, 0);
                }
            } else if constexpr (std::is_same_v<What, HandshakeRefused>) {
                // A refused dialler dials again within T_s (§3).
                const auto peer = host_of(what.peer);
                if (peer && !what.by_us && *peer < host.dialling.size()) {
                    Time& pause = host.dialling[*peer].pause;
                    pause = std::min(pause, configs_[h].timing.suspect_after.ns);
                }
            } else if constexpr (std::is_same_v<What, DealWith>) {
                deal_with(h, what.members);
            } else if constexpr (std::is_same_v<What, Persist>) {
                write_disk(h, what.durable);
            } else if constexpr (std::is_same_v<What, StartTask>) {
                host.works_under = what.epoch;
                obey(h, host.candidacies->on_start(clock(h), what.epoch));
            } else if constexpr (std::is_same_v<What, StopTask>) {
                obey(h, host.candidacies->on_stop(clock(h), what.epoch, what.reason));
            } else if constexpr (std::is_same_v<What, Publish>) {
                host.published = what;
                if (what.epoch && what.may_be_outlived)
                    obey(h, host.candidacies->on_untied(clock(h), what.epoch, what.untied_until));
            } else if constexpr (std::is_same_v<What, Stopped>) {
                die(h, Death::killed);
            }
        },
        action);
}

void World::write_disk(HostIndex h, const Durable& durable) {
    Host& host = hosts_[h];
    host.writing = durable;
    queue_.push(now_ + draw(settings_.fsync) + host.disk.slow, Happening::persisted, h, host.run);
}

void World::stop_task(HostIndex h, Epoch epoch) {
    Host& host = hosts_[h];
    host.task.epoch = epoch;
    host.task.asked_to_end = true;
    queue_.push(now_ + draw(settings_.task_ending), Happening::task_ended, h, host.run,
                epoch.value);
}

void World::end_task(HostIndex h, bool failed) {
    Host& host = hosts_[h];
    if (!host.running() || !host.task.running || host.task.asked_to_end || host.task.hangs) return;
    host.task.running = false;
    give(h, TaskEnded{host.task.epoch, true, failed});
}

void World::release_task(HostIndex h) {
    Host& host = hosts_[h];
    host.task.hangs = false;
    if (host.running() && host.task.asked_to_end)
        queue_.push(now_, Happening::task_ended, h, host.run, host.task.epoch.value);
}

void World::set_health(HostIndex h, bool healthy) {
    if (hosts_[h].healthy == healthy) return;
    hosts_[h].healthy = healthy;
    give(h, HealthChanged{healthy});
}

}  // namespace bullring::sim
