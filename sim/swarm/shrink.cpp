#include "sim/swarm/shrink.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/scenario/runner.hpp"

namespace bullring::sim {

namespace {

class Shrinker {
public:
    Shrinker(Scenario scenario, std::string check, std::size_t runs_max)
        : best_(std::move(scenario)), check_(std::move(check)), runs_max_(runs_max) {}

    Shrunk shrink() {
        drop_the_end();
        bool smaller = true;
        while (smaller && runs_ < runs_max_) {
            const std::size_t before = best_.commands.size() + best_.settings.ids.size();
            drop_commands();
            drop_nodes();
            smaller = best_.commands.size() + best_.settings.ids.size() < before;
        }
        plain_settings();
        return {best_, runs_};
    }

private:
    bool still_fails(const Scenario& candidate) {
        if (runs_ >= runs_max_ || !problems(candidate.settings).empty()) return false;
        ++runs_;
        const Outcome outcome = run(candidate);
        return outcome.violation && outcome.violation->check == check_;
    }

    bool keep_if_failing(Scenario candidate) {
        if (!still_fails(candidate)) return false;
        best_ = std::move(candidate);
        return true;
    }

    /// Nothing after the violation matters.
    void drop_the_end() {
        const Outcome outcome = run(best_);
        if (!outcome.violation) return;
        Scenario candidate = best_;
        std::erase_if(candidate.commands, [&](const Command& c) {
            return !c.relative && c.at > outcome.violation->at;
        });
        if (candidate.commands.size() < best_.commands.size()) {
            Command wait;
            wait.at = outcome.violation->at + 1;
            wait.verb = Verb::wait;
            wait.duration = 0;
            std::erase_if(candidate.commands, [](const Command& c) { return c.relative; });
            candidate.commands.push_back(wait);
            keep_if_failing(std::move(candidate));
        }
    }

    void drop_commands() {
        for (std::size_t piece = std::max<std::size_t>(best_.commands.size() / 2, 1);; piece /= 2) {
            for (std::size_t at = 0; at < best_.commands.size() && runs_ < runs_max_;) {
                Scenario candidate = best_;
                const auto first = candidate.commands.begin() + static_cast<std::ptrdiff_t>(at);
                const std::size_t count = std::min(piece, candidate.commands.size() - at);
                candidate.commands.erase(first, first + static_cast<std::ptrdiff_t>(count));
                if (!keep_if_failing(std::move(candidate))) at += count;
            }
            if (piece == 1) return;
        }
    }

    void drop_nodes() {
        for (std::size_t i = best_.settings.ids.size(); i-- > 0 && best_.settings.ids.size() > 1;) {
            Scenario candidate = best_;
            const NodeId gone = candidate.settings.ids[i];
            candidate.settings.ids.erase(candidate.settings.ids.begin() +
                                         static_cast<std::ptrdiff_t>(i));
            candidate.settings.priorities.erase(gone);
            candidate.settings.leases.erase(gone);
            candidate.settings.leases_max.erase(gone);
            candidate.settings.wires.erase(gone);
            std::erase_if(candidate.commands, [&](const Command& c) {
                const auto is = [&](const Target& t) {
                    return t.kind == Target::Kind::id && t.id == gone;
                };
                return is(c.a) || is(c.b);
            });
            for (Command& c : candidate.commands)
                std::erase_if(c.links, [&](const auto& link) {
                    return link.first == gone || link.second == gone;
                });
            keep_if_failing(std::move(candidate));
        }
    }

    void plain_settings() {
        const Settings usual;
        const std::vector<std::function<void(Settings&)>> plainer{
            [&](Settings& s) { s.priorities.clear(); },
            [&](Settings& s) { s.leases.clear(); },
            [&](Settings& s) { s.leases_max.clear(); },
            [&](Settings& s) { s.heartbeats.clear(); },
            [&](Settings& s) { s.wires.clear(); },
            [&](Settings& s) { s.wall_clocks.clear(); },
            [&](Settings& s) { s.delay = usual.delay; },
            [&](Settings& s) { s.loss_ppm = 0; },
            [&](Settings& s) { s.fsync = usual.fsync; },
            [&](Settings& s) { s.drift_ppm = 0; },
            [&](Settings& s) { s.rho_ppm = usual.rho_ppm, s.drift_ppm = 0; },
            [&](Settings& s) { s.unread_max = usual.unread_max, s.outbox_max = usual.outbox_max; },
            [&](Settings& s) { s.translated = false; },
            [&](Settings& s) { s.lease_max = usual.lease_max; },
            [&](Settings& s) { s.preempt.reset(); },
            [&](Settings& s) { s.preempt_delay = usual.preempt_delay; },
            [&](Settings& s) { s.hand_over_hold_off = usual.hand_over_hold_off; },
            [&](Settings& s) { s.bootstrap_wait = usual.bootstrap_wait; },
            [&](Settings& s) { s.first_epoch = usual.first_epoch; },
            [&](Settings& s) { s.fast_release = usual.fast_release; },
            [&](Settings& s) { s.tie = true; },
            [&](Settings& s) { s.hooks = false; },
            [&](Settings& s) { s.task_ending = usual.task_ending; },
            [&](Settings& s) { s.profile = usual.profile; },
        };
        for (const auto& make_plainer : plainer) {
            Scenario candidate = best_;
            make_plainer(candidate.settings);
            if (candidate != best_) keep_if_failing(std::move(candidate));
        }
    }

    Scenario best_;
    std::string check_;
    std::size_t runs_max_;
    std::size_t runs_ = 0;
};

}  // namespace

Shrunk shrink(const Scenario& failing, const std::string& check, std::size_t runs_max) {
    return Shrinker(failing, check, runs_max).shrink();
}

}  // namespace bullring::sim
