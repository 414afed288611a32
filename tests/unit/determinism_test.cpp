// The same events give the same actions and the same node, whatever the events are.
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::determinism_test {
namespace {

using namespace test;

/// One thing that can happen, drawn by rapidcheck and applied to as many nodes as a test likes.
struct Happening {
    int kind = 0;
    std::uint64_t peer = 1;
    std::uint64_t number = 0;
    Duration wait{0};
};

[[maybe_unused]] std::ostream& operator<<(std::ostream& out, const Happening& h) {
    return out << "{" << h.kind << ", " << h.peer << ", " << h.number << ", " << h.wait.ns << "}";
}

rc::Gen<Happening> happenings() {
    return rc::gen::map(
        rc::gen::tuple(rc::gen::inRange(0, 19), rc::gen::inRange<std::uint64_t>(1, 4),
                       rc::gen::inRange<std::uint64_t>(0, 8), rc::gen::inRange(0, 120)),
        [](const std::tuple<int, std::uint64_t, std::uint64_t, int>& drawn) {
            return Happening{std::get<0>(drawn), std::get<1>(drawn), std::get<2>(drawn),
                             milliseconds(std::get<3>(drawn))};
        });
}

Token token_of(NodeFixture& node, const Happening& h) {
    Token token;
    token.walk.owner = {h.number == 0 ? node.config().self.value : h.peer};
    token.walk.owner_incarnation =
        h.number == 0 ? node.own_incarnation() : node.incarnation_of(h.peer);
    token.walk.round = 1 + h.number % 3;
    token.walk.step = static_cast<std::uint32_t>(1 + h.number);
    for (Index i = 0; i < 4; ++i)
        if (h.number >> i & 1U || h.number == 0) token.walk.visited.insert(i);
    token.max_seen = {5000 + h.number};
    return token;
}

Actions message(NodeFixture& node, const Happening& h) {
    const Coordinator request{
        {5000 + h.number}, milliseconds(250), node.now(), h.number % 2 == 0, h.number % 3 != 0};
    switch (h.kind) {
        case 8: return node.hear(h.peer, request);
        case 9: return node.hear(h.peer, Resign{{5000 + h.number}, {h.number % 5}});
        case 10: return node.hear(h.peer, Election{h.number});
        case 11: return node.hear(h.peer, Ok{h.number});
        case 12: return node.hear(h.peer, Decline{h.number});
        case 13: return node.hear(h.peer, token_of(node, h));
        case 14: {
            CoordinatorToken token{token_of(node, h).walk, request, {}, {}};
            return node.hear(h.peer, token);
        }
        default:
            return node.hear(h.peer, Nack{node.own_incarnation(),
                                          {5000 + h.number},
                                          NackReason::busy,
                                          {h.number % 5},
                                          {5000},
                                          milliseconds(80),
                                          false});
    }
}

Actions apply(NodeFixture& node, const Happening& h) {
    const SessionEnd how = static_cast<SessionEnd>(h.number % 5);
    switch (h.kind) {
        case 0: return node.run(h.wait);
        case 1: return node.after(h.wait);
        case 2: return node.connect(h.peer);
        case 3: return node.accepted(h.peer) ? node.lose(h.peer, how) : node.wake();
        case 4:
            return node.dialled(h.peer) ? node.step(SessionEnded{node.dialled(h.peer), how})
                                        : node.wake();
        case 5:
        case 6:
        case 7: return node.last_request(h.peer) ? node.answer_grant(h.peer) : node.wake();
        case 16: return node.step(ResignRequested{{h.number % 5}, {Asker::observer, h.number}});
        case 17: return node.step(TaskEnded{node.view().epoch});
        case 18: return node.step(HealthChanged{h.number % 4 != 0});
        default: return message(node, h);
    }
}

NodeFixture fresh(Algorithm algorithm) {
    NodeFixture node(test::config_for(4, {1, 2, 3, 4}, algorithm));
    node.disk_answers(true);
    node.recover();
    return node;
}

Algorithm draw_algorithm() { return *rc::gen::element(Algorithm::bully, Algorithm::ring); }

TEST_CASE("determinism: the same events twice give equal actions and equal nodes") {
    CHECK(rc::check("replay", [] {
        const Algorithm algorithm = draw_algorithm();
        const auto script = *rc::gen::container<std::vector<Happening>>(happenings());
        NodeFixture first = fresh(algorithm);
        NodeFixture second = fresh(algorithm);
        for (const Happening& happening : script) {
            RC_ASSERT(apply(first, happening) == apply(second, happening));
            RC_ASSERT(first.node() == second.node());
            RC_ASSERT(first.node().digest() == second.node().digest());
        }
    }));
}

TEST_CASE("determinism: a copy goes on exactly as the original") {
    CHECK(rc::check("copy", [] {
        NodeFixture original = fresh(draw_algorithm());
        for (const Happening& happening : *rc::gen::container<std::vector<Happening>>(happenings()))
            apply(original, happening);
        NodeFixture copy = original;
        for (const Happening& happening : *rc::gen::container<std::vector<Happening>>(happenings()))
            RC_ASSERT(apply(original, happening) == apply(copy, happening));
        RC_ASSERT(original.node() == copy.node());
    }));
}

TEST_CASE("determinism: nodes of different seeds or incarnations are different") {
    const Config config = test::config_for(4, {1, 2, 3, 4});
    const Start start = test::start_with_file(config);
    Start other_seed = start;
    other_seed.seed = 2;
    Start other_run = start;
    other_run.incarnation = {7};
    const Node node(config, start);
    CHECK(node == Node(config, start));
    CHECK_FALSE(node == Node(config, other_seed));
    CHECK_FALSE(node == Node(config, other_run));
    CHECK(node.digest() == Node(config, start).digest());
    CHECK(node.digest() != Node(config, other_seed).digest());
}

TEST_CASE("determinism: waking early or twice at the same instant does nothing") {
    CHECK(rc::check("a second Wake is a no-op", [] {
        NodeFixture node = fresh(draw_algorithm());
        for (const Happening& happening :
             *rc::gen::container<std::vector<Happening>>(happenings())) {
            apply(node, happening);
            node.wake();
            const Node before = node.node();
            RC_ASSERT(node.wake() == Actions{});
            RC_ASSERT(node.node() == before);
        }
    }));
}

}  // namespace
}  // namespace bullring::protocol::determinism_test
