#include "sim/check/checks.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace bullring::sim {

using namespace protocol;

Checks::Checks(const World& world)
    : ledger_(world.hosts_max()),
      of_(world.hosts_max()),
      voted_(world.hosts_max()),
      on_disk_(world.hosts_max()),
      identities_(world.hosts_max()),
      has_copy_(world.hosts_max()) {}

/// These checks cannot hold when an assumption is broken on purpose.
bool Checks::excused(const World& world, std::string_view check) const {
    const auto is_one_of = [check](std::initializer_list<std::string_view> all) {
        return std::find(all.begin(), all.end(), check) != all.end();
    };
    const Settings& settings = world.settings();
    if (settings.quorum == QuorumMode::none && !is_one_of({"I20", "L1", "L2", "L5", "expect"}))
        return true;
    if (settings.beyond_rho && is_one_of({"I1", "I3", "I6", "I12", "I23"})) return true;
    return settings.beyond_disk && is_one_of({"I1", "I2", "I3", "I4", "I6", "I7", "I8", "I12",
                                              "I13", "I14", "I15", "I18", "I23", "L6"});
}

void Checks::fail(const World& world, const char* check, std::string what) {
    if (violation_ || excused(world, check)) return;
    violation_ = {check, std::move(what), world.now(), world.steps()};
}

void Checks::before_step(const World& world, HostIndex h, Instant now, const Event& event) {
    ledger_.before_step(world, h, now, event);
    of_[h].event_was_persisted = std::holds_alternative<Persisted>(event);
    if (const auto* receive = std::get_if<Receive>(&event)) note_twin(world, h, now, *receive);
    note_word(world, h, now, event);
    if (const auto* health = std::get_if<HealthChanged>(&event))
        of_[h].well_since = health->healthy ? world.now() : -1;
    if (const Parts& node = world.host(h).node->parts(); node.fenced())
        of_[h].base_before = node.holder.base();
    count_event(world, h, event);
}

void Checks::on_action(const World& world, HostIndex h, Instant now, const Action& action) {
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, Send>) {
                check_message(world, h, now, what);
            } else if constexpr (std::is_same_v<What, Publish>) {
                check_published(world, h, what);
            } else if constexpr (std::is_same_v<What, Elected>) {
                check_elected(world, h, what);
                of_[h].leads_since = now;
            } else if constexpr (std::is_same_v<What, CloseSession>) {
                check_close(world, h, now, what);
            } else if constexpr (std::is_same_v<What, MembersAnswer>) {
                coverage_.count(what.done ? Seen::members_done : Seen::members_refused);
            } else if constexpr (std::is_same_v<What, Persist>) {
                check_durable(world, h, what.durable);
                // A leader without others sends its list to nobody before it writes it.
                const Parts& node = world.host(h).node->parts();
                if (node.fenced() && what.durable.members == node.holder.newest())
                    note_list(world, world.cluster_of(h), what.durable.members);
            } else if constexpr (std::is_same_v<What, Deposed>) {
                if (world.host(h).site == Site::own) ++depositions_;
                if (what.reason == DeposedReason::preempted) check_handover(world, h);
            } else if constexpr (std::is_same_v<What, ElectionStarted>) {
                const Time well = of_[h].well_since;
                if (well >= 0 && world.now() - well < world.settings().preempt_delay.ns / 2)
                    coverage_.count(Seen::probation_cut_short);
            }
        },
        action);
    count_action(world, h, action);
}

/// Where no message takes any time, nodes that keep each other busy never let time pass; where they
/// do, they would do so as fast as the network lets them.
void Checks::check_time_passes(const World& world) {
    constexpr std::uint64_t steps_max = 200'000;
    if (world.now() != instant_) {
        instant_ = world.now();
        steps_at_instant_ = 0;
    }
    if (++steps_at_instant_ > steps_max)
        fail(world, "L2", std::to_string(steps_max) + " steps at one instant, and no end of them");
}

void Checks::after_step(const World& world, HostIndex h, Instant now) {
    check_time_passes(world);
    check_suspicion(world, h, now);
    check_alone(world, h);
    if (world.settings().quorum == QuorumMode::none) return;
    check_silence_over(world, h, now);
    check_proposal(world, h, now);
    check_list_written(world, h);
    check_counted_by_members(world, h);
    check_own_promise(world, h, now);
    check_kept(world, h, now);
    check_candidacy_length(world, h, now);
}

void Checks::on_incident(const World& world, const Incident& incident) {
    count_client(incident);
    if (incident.kind == "start" || incident.kind == "crash" || incident.kind == "power_off") {
        ledger_.note_death(incident.host);
        of_[incident.host] = {};
        const bool has_copy = world.host(incident.host).own_disk.has_value();
        if (has_copy || has_copy_[incident.host]) {  // or another one
            on_disk_[incident.host] = {};
            identities_[incident.host] = {};
            // Each such disk is of another one.
            std::erase_if(clusters_,
                          [](const auto& one) { return one.first.first == Site::predecessor; });
        }
        has_copy_[incident.host] = has_copy;
    }
    if (incident.kind == "start" && !world.host(incident.host).disk.file)
        voted_[incident.host].forget();
}

}  // namespace bullring::sim
