// The faults of a scenario, and how they are healed.
#include <algorithm>
#include <string>

#include "protocol/values/names.hpp"
#include "sim/scenario/player.hpp"

namespace bullring::sim {

using namespace protocol;

void Player::incident(const Command& command) {
    switch (command.verb) {
        case Verb::calm: return calm();
        case Verb::cut:
        case Verb::heal:
        case Verb::isolate:
        case Verb::graph:
        case Verb::reset:
        case Verb::forget:
        case Verb::forge_fin:
        case Verb::flip: return links(command);
        case Verb::lie: {
            const auto from = host_of(command.a);
            const auto to = host_of(command.b);
            if (!from || !to) return;
            const std::size_t space = command.word.find(' ');
            return world_.lie({*from, *to, command.word.substr(0, space),
                               command.word.substr(space + 1), command.number});
        }
        case Verb::second: {
            const auto h = host_of(command.a);
            if (!h || world_.hosts() >= world_.hosts_max()) return;
            checks_.coverage().count(Seen::second_process);
            return world_.start(world_.add_impostor(world_.host(*h).id));
        }
        case Verb::readdress: {
            const auto h = host_of(command.a);
            const auto member = host_of(command.b);
            const auto target = host_of({Target::Kind::second, {}});
            if (!h || !member || !target || world_.member_of(*target) != *member) return;
            checks_.coverage().count(Seen::readdressed);
            return world_.readdress(*h, *member, *target);
        }
        case Verb::mistake: {
            const auto member = world_.host_of(command.a.id);
            const auto target = host_of(command.b);
            if (!member || !target) return;
            checks_.coverage().count(Seen::address_mistaken);
            return world_.mistake(command.a.site, *member, *target);
        }
        case Verb::members: {
            const auto member = command.a.kind == Target::Kind::id ? world_.host_of(command.a.id)
                                                                   : host_of(command.a);
            const auto asked = host_of(command.b);
            if (!member || !asked) return;
            checks_.coverage().count(Seen::members_asked);
            const auto what = protocol::named<protocol::MemberChange::What>(command.word);
            const protocol::NodeId id = world_.host(*member).id;
            const bool moves = *what == protocol::MemberChange::What::address;
            const std::string address = (moves ? "moved-" : "host-") + std::to_string(id.value);
            return world_.change_members(*asked, {*what, id, address});
        }
        default: return on_each(command);
    }
}

void Player::on_each(const Command& command) {
    Coverage& coverage = checks_.coverage();
    for (const HostIndex h : hosts_of(command.a)) {
        const bool awake = world_.host(h).awake();
        switch (command.verb) {
            case Verb::start:
                if (!world_.host(h).running()) coverage.count(Seen::start);
                world_.start(h);
                break;
            case Verb::crash: crash(h, command); break;
            case Verb::power_off:
                if (world_.host(h).running()) coverage.count(Seen::power_off);
                world_.die(h, Death::power_off);
                break;
            case Verb::stop:
                if (awake) coverage.count(Seen::stop);
                world_.stop(h);
                break;
            case Verb::pause: pause(h, command); break;
            case Verb::resume: world_.resume(h); break;
            case Verb::suspend:
                if (awake) coverage.count(Seen::suspend);
                world_.suspend(h);
                break;
            case Verb::slow:
                coverage.count(Seen::slow_cpu);
                world_.set_slow(h, command.duration);
                break;
            case Verb::rates:
                coverage.count(Seen::clock_rate_change);
                world_.set_rates(h, {command.number, command.number2});
                break;
            case Verb::disk: disk(h, command); break;
            case Verb::task: task(h, command); break;
            case Verb::attach:
                if (world_.host(h).running()) coverage.count(Seen::client_attached);
                world_.attach(h);
                break;
            case Verb::client: client(h, command.word); break;
            case Verb::health:
                if (command.word == "bad")
                    coverage.count(command.a.kind == Target::Kind::all
                                       ? Seen::health_lost_everywhere
                                       : Seen::health_lost);
                world_.set_health(h, command.word == "good");
                break;
            case Verb::stall:
                if (world_.host(h).task.running) coverage.count(Seen::stall);
                world_.stall(h);
                break;
            case Verb::resign: {
                const auto to = host_of(command.b);
                coverage.count(Seen::resign_asked);
                world_.resign(h, to ? world_.host(*to).id : nobody);
                break;
            }
            default: break;
        }
    }
}

void Player::crash(HostIndex h, const Command& command) {
    if (!world_.host(h).running()) return;
    Coverage& coverage = checks_.coverage();
    if (command.number > 0) {
        coverage.count(Seen::crash_within_a_step);
        return world_.interrupt(
            h, {Interruption::Kind::crash, static_cast<std::size_t>(command.number - 1)});
    }
    const bool reset = command.word == "reset";
    coverage.count(reset ? Seen::crash_by_reset : Seen::crash);
    world_.die(h, reset ? Death::reset : Death::killed);
}

void Player::pause(HostIndex h, const Command& command) {
    if (!world_.host(h).awake()) return;
    Coverage& coverage = checks_.coverage();
    if (command.number > 0) {
        coverage.count(Seen::pause_within_a_step);
        return world_.interrupt(
            h, {Interruption::Kind::pause, static_cast<std::size_t>(command.number - 1)});
    }
    coverage.count(Seen::pause);
    world_.pause(h);
}

void Player::disk(HostIndex h, const Command& command) {
    Disk& disk = world_.disk(h);
    Coverage& coverage = checks_.coverage();
    const std::string& word = command.word;
    // A disk is not taken out of a process that runs.
    const bool idle = !world_.host(h).running();
    if (word == "failing") {
        coverage.count(Seen::disk_failing);
        disk.state = DiskState::failing;
    } else if (word == "slow") {
        coverage.count(Seen::disk_slow);
        disk.slow = command.duration;
    } else if (word == "good") {
        disk.state = DiskState::good;
        disk.slow = 0;
    } else if (word == "lost" && idle) {
        coverage.count(Seen::disk_lost);
        world_.lose_disk(h);
    } else if (word == "torn" && idle) {
        coverage.count(Seen::disk_torn);
        disk.state = DiskState::torn;
    } else if (word == "copied" && idle) {
        const auto from = host_of(command.b);
        if (!from) return;
        coverage.count(Seen::disk_copied);
        world_.copy_disk(h, *from);
    } else if (word == "predecessor" && idle) {
        world_.find_old_disk(h);
        if (world_.cluster_of(h) == Site::predecessor) coverage.count(Seen::disk_of_predecessor);
    } else if (word == "own" && idle) {
        world_.return_disk(h);
    } else if (word == "older" && idle && world_.roll_back_disk(h)) {
        coverage.count(Seen::disk_older);
    }
}

void Player::task(HostIndex h, const Command& command) {
    Coverage& coverage = checks_.coverage();
    const bool running = world_.host(h).running() && world_.host(h).task.running;
    if (command.word == "hangs") {
        coverage.count(Seen::task_hangs);
        world_.hang_task(h);
    } else if (command.word == "returns") {
        world_.release_task(h);
    } else {
        if (running) coverage.count(command.word == "ends" ? Seen::task_ends : Seen::task_fails);
        world_.end_task(h, command.word == "fails");
    }
}

void Player::client(HostIndex h, const std::string& does) {
    const auto which = world_.client_of(h);
    if (!which) return;
    Coverage& coverage = checks_.coverage();
    if (does == "done" || does == "leaves") {
        coverage.count(Seen::client_done);
        world_.end_work(*which, does == "done");
    } else if (does == "killed" || does == "forks") {
        coverage.count(does == "killed" ? Seen::client_killed : Seen::client_forked);
        world_.kill_client(*which, does == "forks");
    } else if (does == "closes") {
        coverage.count(Seen::client_closed);
        world_.close_client(*which);
    } else if (does == "stopped" || does == "goes-on") {
        if (does == "stopped") coverage.count(Seen::client_stopped);
        world_.stop_client(*which, does == "stopped");
    } else if (does == "guarded") {
        world_.guard_client(*which);
    } else {
        if (does == "deaf") coverage.count(Seen::client_deaf);
        world_.deafen_client(*which, does == "deaf");
    }
}

void Player::tell_link(std::string_view kind, HostIndex a, HostIndex b) {
    const Incident incident{
        .kind = kind, .host = a, .peer = b, .has_host = true, .has_peer = true, .detail = {}};
    for (Observer* observer : options_.observers) observer->on_incident(world_, incident);
}

void Player::links(const Command& command) {
    Coverage& coverage = checks_.coverage();
    const std::size_t all = world_.members();
    if (command.verb == Verb::graph) {
        coverage.count(Seen::frozen_graph);
        for (HostIndex a = 0; a < all; ++a)
            for (HostIndex b = a + 1; b < all; ++b) {
                const bool whole =
                    std::any_of(command.links.begin(), command.links.end(), [&](const auto& link) {
                        const auto x = world_.host_of(link.first);
                        const auto y = world_.host_of(link.second);
                        return (x == a && y == b) || (x == b && y == a);
                    });
                tell_link(whole ? "heal" : "cut", a, b);
                for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
                    whole ? world_.heal(from, to) : world_.cut(from, to);
            }
        return;
    }
    if (command.verb == Verb::heal && command.a.kind == Target::Kind::all) {
        coverage.count(Seen::heal);
        for (HostIndex a = 0; a < world_.hosts(); ++a)
            for (HostIndex b = 0; b < world_.hosts(); ++b)
                if (a != b && world_.links().cut(a, b)) {
                    tell_link("heal", a, b);
                    world_.heal(a, b);
                }
        return;
    }
    const auto a = host_of(command.a);
    if (!a) return;
    if (command.verb == Verb::isolate) {
        coverage.count(Seen::cut_two_ways);
        if (command.a.kind == Target::Kind::highest) coverage.count(Seen::best_node_flaps);
        for (HostIndex b = 0; b < all; ++b)
            if (b != *a) {
                tell_link("cut", *a, b);
                world_.cut(*a, b);
                world_.cut(b, *a);
            }
        return;
    }
    const auto b = host_of(command.b);
    if (!b || a == b) return;
    const bool both = command.word == "-";
    switch (command.verb) {
        case Verb::cut:
            coverage.count(both ? Seen::cut_two_ways : Seen::cut_one_way);
            tell_link("cut", *a, *b);
            world_.cut(*a, *b);
            if (both) world_.cut(*b, *a);
            break;
        case Verb::heal:
            coverage.count(Seen::heal);
            tell_link("heal", *a, *b);
            world_.heal(*a, *b);
            if (both) world_.heal(*b, *a);
            break;
        case Verb::reset:
            coverage.count(Seen::session_reset);
            tell_link("reset", *a, *b);
            world_.reset_sessions(*a, *b);
            break;
        case Verb::forget:
            coverage.count(Seen::session_forgotten);
            tell_link("forget", *a, *b);
            world_.forget_sessions(*a, *b);
            break;
        case Verb::forge_fin:
            coverage.count(Seen::fin_forged);
            tell_link("forge-fin", *a, *b);
            world_.forge_fins(*a, *b);
            break;
        case Verb::flip:
            coverage.count(Seen::bit_flipped);
            world_.flip_next(*a, *b);
            if (both) world_.flip_next(*b, *a);
            break;
        default: break;
    }
}

void Player::calm() {
    // By then a process that has just died can be started again.
    run_until(world_.now() + 2 * ms);
    Command heal;
    heal.verb = Verb::heal;
    heal.a.kind = Target::Kind::all;
    links(heal);
    world_.end_loss();
    for (HostIndex h = world_.homes(); h < world_.hosts(); ++h) world_.die(h, Death::killed);
    world_.restore_addresses();
    for (HostIndex h = 0; h < world_.homes(); ++h)
        if (world_.host(h).own_disk) {
            world_.die(h, Death::killed);
            world_.return_disk(h);
        }
    world_.empty_left_behind();
    for (std::size_t number = 0; number < world_.clients().size(); ++number) {
        world_.stop_client(number, false);
        world_.deafen_client(number, false);
    }
    for (HostIndex h = 0; h < world_.homes(); ++h) {
        world_.interrupt(h, {});
        world_.set_slow(h, 0);
        world_.set_rates(h, {});
        Disk& disk = world_.disk(h);
        if (disk.state == DiskState::torn) disk.file.reset();
        disk.state = DiskState::good;
        disk.slow = 0;
        world_.resume(h);
        world_.set_health(h, true);
        world_.release_task(h);
        world_.start(h);
    }
}

}  // namespace bullring::sim
