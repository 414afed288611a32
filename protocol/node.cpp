#include "protocol/node.hpp"

#include "protocol/handshake/handshake.hpp"
#include "protocol/handshake/hearing.hpp"
#include "protocol/invariants.hpp"
#include "protocol/lease/renewing.hpp"
#include "protocol/membership/changing.hpp"
#include "protocol/membership/dealing.hpp"
#include "protocol/membership/giving_id.hpp"
#include "protocol/membership/shown.hpp"
#include "protocol/peers/heartbeats.hpp"
#include "protocol/recovery/keeping.hpp"
#include "protocol/recovery/restart.hpp"
#include "protocol/report/report.hpp"
#include "protocol/report/why.hpp"
#include "protocol/requests/requests.hpp"
#include "protocol/selectors/selector.hpp"
#include "protocol/sessions/ends.hpp"
#include "protocol/tenure/step_down.hpp"
#include "protocol/textbook/textbook.hpp"
#include "protocol/values/algorithms.hpp"
#include "protocol/values/assert.hpp"
#include "protocol/values/digest.hpp"
#include "protocol/wakes.hpp"

namespace bullring::protocol {

static_assert(std::variant_size_v<AnySelector> == algorithm_table.size());
// A message whose overload is forgotten, or has another parameter, would be dropped without a word.
static_assert(Understands<Bully, Election> && Understands<Bully, Ok> &&
              Understands<Bully, Decline> && Understands<Bully, LeaderIs>);
static_assert(Understands<Ring, Token> && Understands<Ring, TokenAck> &&
              Understands<Ring, CoordinatorToken>);

namespace {

template <class... Handlers>
struct overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

void advance_leases(Parts& node, Step& step) {
    if (node.recovering()) advance_recovery(node, step);
    take_shown(node, step.now);
    manage_identity(node, step);
    manage_list(node, step);
    follow_lists(node, step);
    // R3.11: at T_camp.
    if (node.role() == Role::candidate && due(step.now, node.holder.candidate_until()))
        abandon(node, step, Duration{0});
    serve_waiting(node, step);
    serve_parked(node, step);
}

template <Selector First, Selector... Others>
AnySelector make_selector(const Config& config) {
    if constexpr (sizeof...(Others) > 0)
        if (config.algorithm != First::algorithm) return make_selector<Others...>(config);
    BULLRING_ASSERT(config.algorithm == First::algorithm);
    return First(config);
}

template <class... S>
AnySelector make_one_of(const std::variant<S...>* /*all*/, const Config& config) {
    return make_selector<S...>(config);
}

}  // namespace

Node::Node(const Config& config, const Start& start)
    : parts_(config, start),
      selector_(make_one_of(static_cast<const AnySelector*>(nullptr), config)) {}

void Node::step(Instant now, const Event& event, std::vector<Action>& out) {
    Step step{now, out};
    if (parts_.fenced()) check_lapse(parts_, step);
    handle(step, event);
    advance(step);
    std::visit(
        [&](auto& selector) {
            MemberAccess access(parts_);
            selector.advance(access, step);
            if (const auto renewal = renew_if_due(parts_, step))
                selector.carry(access, step, *renewal);
        },
        selector_);
    report(step);
    check_invariants(parts_, now);
}

void Node::handle(Step& step, const Event& event) {
    std::visit(overloaded{
                   [&](const Dialled& e) { on_dialled(parts_, step, e); },
                   [&](const HelloReceived& e) { on_hello(parts_, step, e); },
                   [&](const Receive& e) { receive(step, e); },
                   [&](const SessionEnded& e) { on_session_ended(parts_, step, e); },
                   [&](const Died& e) { on_died(parts_, step, e); },
                   [](const Wake&) {},
                   [&](const Persisted& e) { on_persisted(parts_, step, e); },
                   [&](const TaskEnded& e) { on_task_ended(parts_, step, e); },
                   [&](const Stalled&) { on_stalled(parts_, step); },
                   [&](const ResignRequested& e) { on_resign_requested(parts_, step, e); },
                   [&](const MembersRequested& e) { on_members_requested(parts_, step, e); },
                   [&](const HealthChanged& e) { on_health_changed(parts_, step, e); },
                   [&](const Standing& e) { on_standing(parts_, step, e); },
                   [&](const WorkChanged& e) { parts_.gate.set_work(e.work, e.advertised); },
                   [&](const Tying& e) { on_tying(parts_, step, e); },
                   [&](const StopRequested&) { on_stop(parts_, step); },
               },
               event);
}

void Node::receive(Step& step, const Receive& received) {
    // On a dialled session only the answer to HELLO can come.
    if (parts_.sessions.dialled(received.session) != nullptr) {
        if (const auto* ack = std::get_if<HelloAck>(&received.message))
            on_hello_ack(parts_, step, received.session, *ack);
        if (const auto* refused = std::get_if<Refused>(&received.message))
            on_refused(parts_, step, received.session, *refused);
        return;
    }
    if (const auto from = sender_of(parts_, step, received.session))
        receive_from(step, *from, received.message);
}

void Node::receive_from(Step& step, const AcceptedSession& from, const Message& message) {
    const auto select = [&](const auto& m) {
        std::visit(
            [&](auto& selector) {
                if constexpr (Understands<std::decay_t<decltype(selector)>,
                                          std::decay_t<decltype(m)>>) {
                    MemberAccess access(parts_);
                    selector.on_message(access, step, from.peer, m);
                }
            },
            selector_);
    };
    std::visit(overloaded{
                   // A second HELLO, or an answer to one: nothing to do.
                   [](const Hello&) {},
                   [](const HelloAck&) {},
                   [](const Refused&) {},
                   [&](const Heartbeat& m) { on_heartbeat(parts_, step, from, m); },
                   [&](const Coordinator& m) {
                       if (m.heartbeat) on_heartbeat(parts_, step, from, *m.heartbeat);
                       Coordinator request = m;
                       request.heartbeat.reset();  // it may have to wait; the heartbeat is read
                       on_coordinator(parts_, step, from, request);
                   },
                   [&](const Grant& m) {
                       if (m.heartbeat) on_heartbeat(parts_, step, from, *m.heartbeat);
                       on_grant(parts_, step, from.peer, m);
                   },
                   [&](const Nack& m) { on_nack(parts_, step, from.peer, m); },
                   [&](const Resign& m) { on_resign(parts_, step, from, m); },
                   // All others are an algorithm's: its own, or else nothing to do.
                   [&](const auto& m) { select(m); },
               },
               message);
}

// Timers and conditions, before the selector's.
void Node::advance(Step& step) {
    if (parts_.fenced())
        advance_leases(parts_, step);
    else
        textbook::advance(parts_, step);
    note_voucher(parts_, step.now);
    advance_elections(parts_, step.now);
    close_lingering(parts_, step);
}

// Changes are told first; then follows what this step has freed, and what has to be durable.
void Node::report(Step& step) {
    report_peers(parts_, step);
    report_leader(parts_, step);
    parts_.reported.answer_resign(step, parts_.setup.self());
    send_heartbeats(parts_, step);
    if (parts_.fenced()) {
        serve_parked(parts_, step);  // the selector or a preemption may just have freed its promise
        keep_reserve(parts_, step);
    }
    report_stop(parts_, step);
}

Duration Node::until_wake(Instant now) const {
    WakeTime wake(now);
    collect_wakes(parts_, wake);
    std::visit([&](const auto& selector) { selector.collect_wakes(wake); }, selector_);
    return wake.left();
}

View Node::view(Instant now, const HostReasons& reasons) const {
    return view_of(parts_, now, reasons);
}

std::uint64_t Node::digest() const {
    Digest digest;
    digest.add(!parts_.fenced());
    digest.add(parts_);
    digest.add(selector_);
    return digest.value();
}

}  // namespace bullring::protocol
