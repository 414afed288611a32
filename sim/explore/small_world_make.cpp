// Applies a move to a state: the sockets, the disks and the processes around the protocol's nodes.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "protocol/values/assert.hpp"
#include "sim/explore/neighbour.hpp"
#include "sim/explore/small_world.hpp"
#include "sim/explore/tell_action.hpp"

namespace bullring::sim::explore {

using namespace protocol;

namespace {

template <class... Handlers>
struct overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

class BrokenAssertion : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] void throw_broken_assertion(const char* condition, const char* file, int line) {
    throw BrokenAssertion(std::string(condition) + " does not hold (" + file + ":" +
                          std::to_string(line) + ")");
}

/// Keeps states that are not needed any more, with all their memory: most states of a search turn
/// out to be known and live for some microseconds.
class Spare {
public:
    std::vector<Action> actions;

    std::shared_ptr<Node> copy_of(const Node& node) {
        if (nodes_.empty()) return {new Node(node), Keep{}};
        std::unique_ptr<Node> copy = std::move(nodes_.back());
        nodes_.pop_back();
        *copy = node;
        return {copy.release(), Keep{}};
    }

    static Spare& of_this_thread() {
        static thread_local Spare spare;
        return spare;
    }

private:
    struct Keep {
        void operator()(Node* node) const { of_this_thread().keep(std::unique_ptr<Node>(node)); }
    };
    void keep(std::unique_ptr<Node> node) {
        if (nodes_.size() < nodes_max) nodes_.push_back(std::move(node));
    }
    static constexpr std::size_t nodes_max = 8192;
    std::vector<std::unique_ptr<Node>> nodes_;
};

class MoveMaker {
public:
    MoveMaker(const SmallWorld& world, WorldState& state, std::vector<std::string>* told)
        : world_(world), state_(state), told_(told) {}

    std::optional<Violation> make(const Move& move);

private:
    Host& host(std::size_t node) { return state_.hosts[node]; }
    Session& session(const SessionName& name);
    void arrive(const SessionName& name, bool at_acceptor);
    void end_at_dialler(const SessionName& name, SessionEnd how);
    void dial(const SessionName& name);
    void restart(std::size_t node);
    void end_process(std::size_t node);
    void crash(std::size_t node);
    void power_off(std::size_t node);
    void disk_answers(std::size_t node);
    void task_ends(std::size_t node);
    void fault(const Move& move);
    void change(const Move& move, MemberChange::What what);
    void reset(Session& broken) const;
    void cut(Session& broken);
    void forget_sessions();

    void step(std::size_t node, const Event& event);
    void carry_out(std::size_t node, const Action& action);
    void send(std::size_t node, const Send& send);
    void close(std::size_t node, SessionId id);
    void see(std::optional<Violation> found) {
        if (found && !violation_) violation_ = std::move(found);
    }

    const SmallWorld& world_;
    WorldState& state_;
    std::vector<std::string>* told_;
    std::optional<Violation> violation_;
};

void fly(std::vector<Flying>& flying, Content content, RealTime sent_at) {
    flying.push_back({std::make_shared<const Content>(std::move(content)), sent_at});
}

std::optional<Violation> MoveMaker::make(const Move& move) {
    const std::size_t node = move.node();
    switch (move.kind) {
        case MoveKind::deliver: arrive(move.session, true); break;
        case MoveKind::answer: arrive(move.session, false); break;
        case MoveKind::disk: disk_answers(node); break;
        case MoveKind::task: task_ends(node); break;
        case MoveKind::dial: dial(move.session); break;
        case MoveKind::restart: restart(node); break;
        case MoveKind::resume: host(node).paused = false; break;
        case MoveKind::wake:
            state_.now = std::max(state_.now, host(node).wake_at);
            step(node, Wake{});
            break;
        case MoveKind::wait: state_.now = world_.last_call(state_); break;
        default: fault(move);
    }
    forget_sessions();
    see(check_leases(state_));
    return violation_;
}

Session& MoveMaker::session(const SessionName& name) {
    return *std::find_if(state_.sessions.begin(), state_.sessions.end(),
                         [&](const Session& session) { return session.name == name; });
}

// ---- Arrivals.

void MoveMaker::arrive(const SessionName& name, bool at_acceptor) {
    Session& on = session(name);
    std::vector<Flying>& flying = at_acceptor ? on.to_acceptor : on.to_dialler;
    const std::shared_ptr<const Content> content = std::move(flying.front().content);
    flying.erase(flying.begin());
    const SessionId id = session_id(name, !at_acceptor);
    const std::size_t node = at_acceptor ? name.acceptor : name.dialler;
    if (const auto* how = std::get_if<SessionEnd>(content.get())) {
        if (!at_acceptor) return end_at_dialler(name, *how);
        on.acceptor_open = false;
        return step(node, SessionEnded{id, *how});
    }
    const auto& message = std::get<Message>(*content);
    if (const auto* hello = std::get_if<Hello>(&message))
        return step(node, HelloReceived{id, *hello, {"a", "d"}});
    step(node, Receive{id, message});
}

/// Later actions of the dialler on it have no effect: nothing arrives at the other end any more.
void MoveMaker::end_at_dialler(const SessionName& name, SessionEnd how) {
    Session& over = session(name);
    over.dialler_open = false;
    over.to_dialler.clear();
    Host& dialler = host(name.dialler);
    if (dialler.dials[name.acceptor] == name.number)
        dialler.dialled &= static_cast<std::uint8_t>(~(1U << name.acceptor));
    step(name.dialler, SessionEnded{session_id(name, true), how});
}

// ---- Processes.

void MoveMaker::dial(const SessionName& name) {
    Host& dialler = host(name.dialler);
    dialler.dialled |= static_cast<std::uint8_t>(1U << name.acceptor);
    dialler.dials[name.acceptor] = name.number;
    const auto key = [](const SessionName& n) { return session_id(n, true); };
    const auto at = std::find_if(state_.sessions.begin(), state_.sessions.end(),
                                 [&](const Session& other) { return key(other.name) > key(name); });
    Session fresh;
    fresh.name = name;
    state_.sessions.insert(at, std::move(fresh));
    step(name.dialler,
         Dialled{{std::uint64_t{name.acceptor} + 1}, session_id(name, true), {"d", "a"}});
}

void MoveMaker::restart(std::size_t node) {
    Host& fresh = host(node);
    ++fresh.runs;
    Start start;
    start.now = clock_of(node, state_.now);
    start.incarnation = incarnation_of(node, fresh.runs);
    start.seed = start.incarnation.value;
    start.file = fresh.disk;
    start.wall_clock_ms = 1'000'000;
    fresh.node = std::make_shared<const Node>(world_.config(node), start);
    // The kernel answers messages to the earlier run by an RST, some time.
    for (Session& half_open : state_.sessions)
        if (half_open.name.acceptor == node && half_open.broken && !half_open.acceptor_open &&
            half_open.dialler_open && half_open.to_dialler.empty())
            fly(half_open.to_dialler, SessionEnd::reset, no_time);
    step(node, Wake{});
}

void MoveMaker::end_process(std::size_t node) {
    Host gone;
    gone.disk = host(node).disk;
    gone.runs = host(node).runs;
    gone.dials = host(node).dials;
    host(node) = gone;
}

/// The kernel sends FIN, after all that was sent; RST instead if something had not been read.
void MoveMaker::crash(std::size_t node) {
    end_process(node);
    for (Session& one : state_.sessions) {
        if (one.name.dialler == node && one.dialler_open) {
            const bool unread = !one.to_dialler.empty();
            one.dialler_open = false;
            one.to_dialler.clear();
            if (unread) one.to_acceptor.clear();
            if (one.acceptor_open && !one.broken)
                fly(one.to_acceptor, unread ? SessionEnd::reset : SessionEnd::eof, state_.now);
        }
        if (one.name.acceptor == node && one.acceptor_open) {
            const bool unread = !one.to_acceptor.empty();
            one.acceptor_open = false;
            one.to_acceptor.clear();
            if (one.broken || !one.dialler_open) continue;
            if (unread) one.to_dialler.clear();
            fly(one.to_dialler, unread ? SessionEnd::reset : SessionEnd::eof, state_.now);
        }
    }
}

/// Messages under way arrive, and then nothing does.
void MoveMaker::power_off(std::size_t node) {
    end_process(node);
    for (Session& one : state_.sessions) {
        if (one.name.dialler == node && one.dialler_open) {
            one.dialler_open = false;
            one.broken = true;
            one.to_dialler.clear();
        }
        if (one.name.acceptor == node && one.acceptor_open) {
            one.acceptor_open = false;
            one.broken = true;
            one.to_acceptor.clear();
        }
    }
}

void MoveMaker::disk_answers(std::size_t node) {
    const Durable written = *host(node).writing;
    see(check_written(node, written));
    host(node).disk = written;
    host(node).writing.reset();
    step(node, Persisted{written});
}

void MoveMaker::task_ends(std::size_t node) {
    const Epoch ended = host(node).task;
    host(node).task = {};
    host(node).task_stopping = false;
    step(node, TaskEnded{ended, false, false});
}

// ---- Faults.

void MoveMaker::fault(const Move& move) {
    if (state_.faults_left > 0) --state_.faults_left;
    const std::size_t node = move.node();
    switch (move.kind) {
        case MoveKind::crash: return crash(node);
        case MoveKind::power_off: return power_off(node);
        case MoveKind::pause: host(node).paused = true; return;
        case MoveKind::resign: return step(node, ResignRequested{nobody, {}});
        case MoveKind::reset: return reset(session(move.session));
        case MoveKind::cut: return cut(session(move.session));
        case MoveKind::give_up: {
            Host& dialler = host(node);
            dialler.dialled &= static_cast<std::uint8_t>(~(1U << move.session.acceptor));
            return step(node, SessionEnded{session_id(move.session, true), SessionEnd::overflow});
        }
        case MoveKind::add: return change(move, MemberChange::What::add);
        case MoveKind::remove: return change(move, MemberChange::What::remove);
        case MoveKind::promote: return change(move, MemberChange::What::promote);
        case MoveKind::demote: return change(move, MemberChange::What::demote);
        case MoveKind::greet: return step(node, greeting(world_.config(node), move.session));
        default: return;
    }
}

void MoveMaker::change(const Move& move, MemberChange::What what) {
    const NodeId about{std::uint64_t{move.session.acceptor} + 1};
    step(move.node(), MembersRequested{{what, about, "n" + std::to_string(about.value)}, {}});
}

void MoveMaker::reset(Session& broken) const {
    broken.broken = true;
    broken.to_acceptor.clear();
    broken.to_dialler.clear();
    fly(broken.to_acceptor, SessionEnd::reset, state_.now);
    fly(broken.to_dialler, SessionEnd::reset, state_.now);
}

void MoveMaker::cut(Session& broken) {
    broken.broken = true;
    broken.to_acceptor.clear();
    broken.to_dialler.clear();
    fly(broken.to_dialler, SessionEnd::timeout, no_time);
}

/// Those on which nothing can happen any more. A half-open end lives on in its node alone.
void MoveMaker::forget_sessions() {
    std::erase_if(state_.sessions, [](const Session& one) {
        return !one.dialler_open && (!one.acceptor_open || one.to_acceptor.empty());
    });
}

// ---- The nodes.

void MoveMaker::step(std::size_t node, const Event& event) {
    const Instant now = clock_of(node, state_.now);
    std::vector<Action>& actions = Spare::of_this_thread().actions;
    actions.clear();
    const std::shared_ptr<Node> next = Spare::of_this_thread().copy_of(*host(node).node);
    try {
        next->step(now, event, actions);
    } catch (const BrokenAssertion& broken) {
        see(Violation{"assertion", "node " + std::to_string(node + 1) + ": " + broken.what()});
    }
    const Duration sleep = next->until_wake(now);
    host(node).wake_at = sleep < forever ? state_.now + sleep.ns : no_time;
    host(node).node = next;
    for (const Action& action : actions) carry_out(node, action);
}

void MoveMaker::carry_out(std::size_t node, const Action& action) {
    if (told_ != nullptr) tell_action(*told_, node, clock_of(node, state_.now), action);
    Host& actor = host(node);
    std::visit(overloaded{
                   [&](const Send& a) { send(node, a); },
                   [&](const CloseSession& a) { close(node, a.session); },
                   [&](const Persist& a) { actor.writing = a.durable; },
                   [&](const StartTask& a) { actor.task = a.epoch; },
                   [&](const StopTask&) { actor.task_stopping = true; },
                   [&](const Publish& a) {
                       see(check_published(state_, node, a));
                       actor.published = a;
                   },
                   [&](const Elected& a) {
                       see(check_elected(state_, node, a));
                       state_.elected = std::max(state_.elected, a.epoch);
                   },
                   [](const auto&) {},  // dials are moves of their own; the rest is for people
               },
               action);
}

void MoveMaker::send(std::size_t node, const Send& send) {
    see(check_sent(state_, world_.config(node), node, send.message));
    const SessionName name = session_name(send.session);
    if (find_session(state_, name) == nullptr) return;
    Session& on = session(name);
    const bool to_acceptor = is_dialler_end(send.session);
    const bool lost = on.broken || !on.dialler_open || !on.acceptor_open;
    if (!lost) fly(to_acceptor ? on.to_acceptor : on.to_dialler, send.message, state_.now);
}

void MoveMaker::close(std::size_t node, SessionId id) {
    const SessionName name = session_name(id);
    if (find_session(state_, name) == nullptr) return;
    Session& over = session(name);
    const bool linked = !over.broken && over.dialler_open && over.acceptor_open;
    if (is_dialler_end(id)) {
        if (!over.dialler_open) return;
        over.dialler_open = false;
        over.to_dialler.clear();
        if (linked) fly(over.to_acceptor, SessionEnd::eof, state_.now);
        Host& dialler = host(node);
        if (dialler.dials[name.acceptor] == name.number)
            dialler.dialled &= static_cast<std::uint8_t>(~(1U << name.acceptor));
        return;
    }
    if (!over.acceptor_open) return;
    over.acceptor_open = false;
    const bool unread = !over.to_acceptor.empty();
    over.to_acceptor.clear();
    if (linked) fly(over.to_dialler, unread ? SessionEnd::reset : SessionEnd::eof, state_.now);
}

}  // namespace

void catch_broken_assertions() { set_assert_handler(throw_broken_assertion); }

std::optional<Violation> SmallWorld::make(WorldState& state, const Move& move,
                                          std::vector<std::string>* told) const {
    return MoveMaker(*this, state, told).make(move);
}

}  // namespace bullring::sim::explore
