#include "protocol/node.hpp"

#include "protocol/digest.hpp"

namespace bullring::protocol {

namespace {

template <class... Handlers>
struct overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

std::variant<Bully, Ring> make_selector(const Config& config) {
    if (config.algorithm == Algorithm::ring) return Ring(config.members.size());
    return Bully(config.members.size());
}

}  // namespace

Node::Node(const Config& config, const Start& start)
    : core_(config, start), selector_(make_selector(config)) {}

void Node::step(Instant now, const Event& event, std::vector<Action>& out) {
    Step step{now, out};
    core_.check_lapse(step);
    handle(step, event);
    core_.advance(step);
    std::visit(
        [&](auto& selector) {
            selector.advance(core_, step);
            if (const auto renewal = core_.renew_if_due(step))
                selector.carry(core_, step, *renewal);
        },
        selector_);
    core_.report(step);
    core_.check_invariants(now);
}

void Node::handle(Step& step, const Event& event) {
    std::visit(overloaded{
                   [&](const Dialled& e) { core_.on_dialled(step, e); },
                   [&](const HelloReceived& e) { core_.on_hello(step, e); },
                   [&](const Receive& e) { receive(step, e); },
                   [&](const SessionEnded& e) { core_.on_session_ended(step, e); },
                   [](const Wake&) {},
                   [&](const Persisted& e) { core_.on_persisted(step, e); },
                   [&](const TaskEnded& e) { core_.on_task_ended(step, e); },
                   [&](const Stalled&) { core_.on_stalled(step); },
                   [&](const ResignRequested& e) { core_.on_resign_requested(step, e); },
                   [&](const HealthChanged& e) { core_.on_health_changed(step, e); },
                   [&](const Standing& e) { core_.on_standing(step, e); },
                   [&](const Tying& e) { core_.on_tying(step, e); },
                   [&](const StopRequested&) { core_.on_stop(step); },
               },
               event);
}

void Node::receive(Step& step, const Receive& received) {
    // On a dialled session only the answer to HELLO can come.
    if (core_.sessions().dialled(received.session) != nullptr) {
        if (const auto* ack = std::get_if<HelloAck>(&received.message))
            core_.on_hello_ack(step, received.session, *ack);
        if (const auto* refused = std::get_if<Refused>(&received.message))
            core_.on_refused(step, received.session, *refused);
        return;
    }
    if (const auto from = core_.sender_of(step, received.session))
        receive_from(step, *from, received.message);
}

void Node::receive_from(Step& step, const AcceptedSession& from, const Message& message) {
    const Index peer = from.peer;
    Bully* bully = std::get_if<Bully>(&selector_);
    Ring* ring = std::get_if<Ring>(&selector_);
    std::visit(
        overloaded{
            // A second HELLO, an answer to one, or the other algorithm's message: nothing to do.
            [](const Hello&) {},
            [](const HelloAck&) {},
            [](const Refused&) {},
            [&](const Heartbeat& m) { core_.on_heartbeat(step, from, m); },
            [&](const Election& m) {
                if (bully) bully->on_election(core_, step, peer, m);
            },
            [&](const Ok& m) {
                if (bully) bully->on_ok(core_, step, peer, m);
            },
            [&](const Decline& m) {
                if (bully) bully->on_decline(core_, step, peer, m);
            },
            [&](const LeaderIs& m) {
                if (bully) bully->on_leader_is(core_, step, peer, m);
            },
            [&](const Coordinator& m) { core_.on_coordinator(step, from, m); },
            [&](const Grant& m) { core_.on_grant(step, peer, m); },
            [&](const Nack& m) { core_.on_nack(step, peer, m); },
            [&](const Resign& m) { core_.on_resign(step, from, m); },
            [&](const Token& m) {
                if (ring) ring->on_token(core_, step, peer, m);
            },
            [&](const TokenAck& m) {
                if (ring) ring->on_token_ack(core_, step, peer, m);
            },
            [&](const CoordinatorToken& m) {
                if (ring) ring->on_coordinator_token(core_, step, peer, m);
            },
        },
        message);
}

Duration Node::until_wake(Instant now) const {
    WakeTime wake(now);
    core_.collect_wakes(wake);
    std::visit([&](const auto& selector) { selector.collect_wakes(wake); }, selector_);
    return wake.left();
}

View Node::view(Instant now, const HostReasons& reasons) const { return core_.view(now, reasons); }

std::uint64_t Node::digest() const {
    Digest digest;
    digest.add(core_);
    digest.add(selector_);
    return digest.value();
}

}  // namespace bullring::protocol
