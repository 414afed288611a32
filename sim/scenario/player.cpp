#include "sim/scenario/player.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/explore/small_world.hpp"

namespace bullring::sim {

using namespace protocol;

Player::Player(const Scenario& scenario, const RunOptions& options)
    : scenario_(scenario), options_(options), world_(scenario.settings), checks_(world_) {
    world_.watch(checks_);
    // How it has come to where its moves begin is of no interest to anybody else.
    if (scenario.settings.by_hand) explore::begin(world_);
    world_.watch(digest_);
    world_.watch(*this);
    for (Observer* observer : options.observers) world_.watch(*observer);
    const Settings& settings = scenario.settings;
    if (!settings.heartbeats.empty()) checks_.coverage().count(Seen::other_heartbeat);
    if (!settings.wall_clocks.empty()) checks_.coverage().count(Seen::wall_clocks_differ);
}

Outcome Player::play() {
    for (const Command& command : scenario_.commands) {
        run_until(command.relative ? world_.now() + command.at : command.at);
        if (checks_.violation()) break;
        line_ = command.line;
        play(command);
        if (checks_.violation()) break;
        line_ = 0;
    }
    digest_.finish(world_);
    outcome_.violation = checks_.violation();
    outcome_.violated_line = outcome_.violation ? line_ : 0;
    outcome_.digest = digest_.value();
    outcome_.coverage = checks_.coverage();
    outcome_.simulated = world_.now();
    outcome_.steps = world_.steps();
    outcome_.delivered = world_.delivered();
    outcome_.elections = checks_.elections();
    return std::move(outcome_);
}

void Player::play(const Command& command) {
    switch (command.verb) {
        case Verb::move: return move(command);
        case Verb::wait: return run_until(world_.now() + command.duration);
        case Verb::mark:
            mark_ = {checks_.elections(), persists_, world_.leader(), {}, {}};
            if (mark_.leader) mark_.epoch = world_.host(*mark_.leader).published.epoch;
            return;
        case Verb::picture:
            (command.word == "begins" ? outcome_.picture_begins : outcome_.picture_ends) =
                world_.now();
            return;
        case Verb::expect_leader:
        case Verb::expect_holder:
        case Verb::expect_no_leader:
        case Verb::expect_steady:
        case Verb::expect_elections:
        case Verb::expect_same_leader:
        case Verb::expect_higher_epoch:
        case Verb::expect_epoch:
        case Verb::expect_no_fsync:
        case Verb::expect_deposed:
        case Verb::expect_members: return expect(command);
        default: return incident(command);
    }
}

void Player::move(const Command& command) {
    const explore::Move& move = command.move;
    if (!explore::possible(world_, move)) return unmet(command, "expect", "it cannot happen here");
    const std::string content = explore::content_name(world_, move);
    if (!command.word.empty() && command.word != content)
        return unmet(command, "expect", "what comes here is " + content);
    const std::string text = to_text(move) + (content.empty() ? "" : " " + content);
    for (Observer* observer : options_.observers)
        observer->on_incident(world_, {.kind = move_incident, .host = move.node, .detail = text});
    explore::make(world_, checks_, move);
}

void Player::run_until(Time at) {
    while (!checks_.violation() && world_.advance(at)) {
    }
}

void Player::on_action(const World&, HostIndex h, Instant, const Action& action) {
    if (std::holds_alternative<Persist>(action)) ++persists_;
    if (const auto* deposed = std::get_if<Deposed>(&action))
        mark_.deposed.emplace_back(h, deposed->reason);
}

std::optional<HostIndex> Player::host_of(const Target& target) const {
    const auto leader = world_.leader(target.site);
    const bool own = target.site == Site::own;
    const HostIndex begin = own ? 0 : world_.members();
    const HostIndex end = own ? world_.members() : world_.homes();
    const auto highest = [&](bool leader_too) -> std::optional<HostIndex> {
        for (HostIndex h = end; h-- > begin;)
            if (world_.host(h).running() && (leader_too || h != leader)) return h;
        return std::nullopt;
    };
    switch (target.kind) {
        case Target::Kind::id: return world_.host_of(target.id, target.site);
        case Target::Kind::leader: return leader;
        case Target::Kind::highest: return highest(true);
        case Target::Kind::best: return highest(false);
        case Target::Kind::follower:
            for (HostIndex h = begin; h < end; ++h)
                if (world_.host(h).running() && h != leader) return h;
            return std::nullopt;
        case Target::Kind::second:
            if (world_.hosts() == world_.homes()) return std::nullopt;
            return world_.hosts() - 1;
        case Target::Kind::none:
        case Target::Kind::all: return std::nullopt;
    }
    return std::nullopt;
}

std::vector<HostIndex> Player::hosts_of(const Target& target) const {
    std::vector<HostIndex> hosts;
    if (target.kind == Target::Kind::all) {
        const bool own = target.site == Site::own;
        for (HostIndex h = own ? 0 : world_.members();
             h < (own ? world_.members() : world_.homes()); ++h)
            hosts.push_back(h);
    } else if (const auto h = host_of(target)) {
        hosts.push_back(*h);
    }
    return hosts;
}

Outcome run(const Scenario& scenario, const RunOptions& options) {
    return Player(scenario, options).play();
}

}  // namespace bullring::sim
