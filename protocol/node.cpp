#include "protocol/node.hpp"

#include "protocol/selectors/selector.hpp"
#include "protocol/values/algorithms.hpp"
#include "protocol/values/assert.hpp"
#include "protocol/values/digest.hpp"

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

std::variant<Engine, Textbook> make_engine(const Config& config, const Start& start) {
    if (config.quorum == QuorumMode::none) return Textbook(config, start);
    return Engine(config, start);
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
    : engine_(make_engine(config, start)),
      selector_(make_one_of(static_cast<const AnySelector*>(nullptr), config)) {}

Member& Node::member() {
    return std::visit([](auto& engine) -> Member& { return engine; }, engine_);
}
const Member& Node::member() const {
    return std::visit([](const auto& engine) -> const Member& { return engine; }, engine_);
}

const Promise& Node::promise() const {
    static constexpr Promise none;
    const auto* engine = std::get_if<Engine>(&engine_);
    return engine == nullptr ? none : engine->promise();
}

bool Node::recovering() const {
    const auto* engine = std::get_if<Engine>(&engine_);
    return engine != nullptr && engine->recovering();
}

void Node::step(Instant now, const Event& event, std::vector<Action>& out) {
    Step step{now, out};
    Member& member = this->member();
    member.check_lapse(step);
    handle(step, event);
    member.advance(step);
    std::visit(
        [&](auto& selector) {
            MemberAccess access(member);
            selector.advance(access, step);
            if (const auto renewal = member.renew_if_due(step))
                selector.carry(access, step, *renewal);
        },
        selector_);
    member.report(step);
    member.check_invariants(now);
}

void Node::handle(Step& step, const Event& event) {
    Member& member = this->member();
    std::visit(overloaded{
                   [&](const Dialled& e) { member.on_dialled(step, e); },
                   [&](const HelloReceived& e) { member.on_hello(step, e); },
                   [&](const Receive& e) { receive(step, e); },
                   [&](const SessionEnded& e) { member.on_session_ended(step, e); },
                   [&](const Died& e) { member.on_died(step, e); },
                   [](const Wake&) {},
                   [&](const Persisted& e) { member.on_persisted(step, e); },
                   [&](const TaskEnded& e) { member.on_task_ended(step, e); },
                   [&](const Stalled&) { member.on_stalled(step); },
                   [&](const ResignRequested& e) { member.on_resign_requested(step, e); },
                   [&](const MembersRequested& e) { member.on_members_requested(step, e); },
                   [&](const HealthChanged& e) { member.on_health_changed(step, e); },
                   [&](const Standing& e) { member.on_standing(step, e); },
                   [&](const Tying& e) { member.on_tying(step, e); },
                   [&](const StopRequested&) { member.on_stop(step); },
               },
               event);
}

void Node::receive(Step& step, const Receive& received) {
    Member& member = this->member();
    // On a dialled session only the answer to HELLO can come.
    if (member.sessions().dialled(received.session) != nullptr) {
        if (const auto* ack = std::get_if<HelloAck>(&received.message))
            member.on_hello_ack(step, received.session, *ack);
        if (const auto* refused = std::get_if<Refused>(&received.message))
            member.on_refused(step, received.session, *refused);
        return;
    }
    if (const auto from = member.sender_of(step, received.session))
        receive_from(step, *from, received.message);
}

void Node::receive_from(Step& step, const AcceptedSession& from, const Message& message) {
    Member& member = this->member();
    const auto select = [&](const auto& m) {
        std::visit(
            [&](auto& selector) {
                if constexpr (Understands<std::decay_t<decltype(selector)>,
                                          std::decay_t<decltype(m)>>) {
                    MemberAccess access(member);
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
                   [&](const Heartbeat& m) { member.on_heartbeat(step, from, m); },
                   [&](const Coordinator& m) {
                       if (m.heartbeat) member.on_heartbeat(step, from, *m.heartbeat);
                       Coordinator request = m;
                       request.heartbeat.reset();  // it may have to wait; the heartbeat is read
                       member.on_coordinator(step, from, request);
                   },
                   [&](const Grant& m) {
                       if (m.heartbeat) member.on_heartbeat(step, from, *m.heartbeat);
                       member.on_grant(step, from.peer, m);
                   },
                   [&](const Nack& m) { member.on_nack(step, from.peer, m); },
                   [&](const Resign& m) { member.on_resign(step, from, m); },
                   // All others are an algorithm's: its own, or else nothing to do.
                   [&](const auto& m) { select(m); },
               },
               message);
}

Duration Node::until_wake(Instant now) const {
    WakeTime wake(now);
    member().collect_wakes(wake);
    std::visit([&](const auto& selector) { selector.collect_wakes(wake); }, selector_);
    return wake.left();
}

View Node::view(Instant now, const HostReasons& reasons) const {
    return member().view(now, reasons);
}

std::uint64_t Node::digest() const {
    Digest digest;
    digest.add(engine_);
    digest.add(selector_);
    return digest.value();
}

}  // namespace bullring::protocol
