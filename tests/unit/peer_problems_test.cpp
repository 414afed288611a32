#include "src/node/report/peer_problems.hpp"

#include <doctest/doctest.h>

namespace bullring::peer_problems_test {
namespace {

using protocol::HandshakeRefused;
using protocol::Instant;
using protocol::NodeId;

constexpr Instant begin{1'000'000'000, 1'000'000'000};

HandshakeRefused refused(std::uint64_t peer, bool by_us, const char* field) {
    return {NodeId{peer}, by_us, {field, "a", "b"}, "h:1"};
}

}  // namespace

TEST_CASE("peer problems: those of one reason are told together, until they are up") {
    PeerProblems problems(NodeId{3});
    CHECK(problems.text(begin).empty());
    problems.not_secured(begin, NodeId{2}, "certificate expired");
    CHECK(problems.text(begin) == "not connected with 2: certificate expired");
    problems.not_secured(begin, NodeId{1}, "certificate expired");
    CHECK(problems.text(begin) == "not connected with 1, 2: certificate expired");
    problems.handshake_refused(begin, refused(2, false, "algorithm"));
    CHECK(problems.text(begin) == "not connected with 1: certificate expired");
    problems.peer_changed(begin, NodeId{1}, false);
    problems.peer_changed(begin, NodeId{1}, true);
    CHECK(problems.text(begin) == "not connected with 2: algorithm is 'b' here and 'a' there");
    problems.peer_changed(begin, NodeId{2}, true);
    CHECK(problems.text(begin).empty());
}

TEST_CASE("peer problems: who is refused here may not be the member that it says it is") {
    PeerProblems problems(NodeId{3});
    problems.handshake_refused(begin, refused(2, true, "cluster"));
    CHECK(problems.text(begin).empty());
}

TEST_CASE("peer problems: one that is met no more is forgotten, since who had it may be down") {
    PeerProblems problems(NodeId{3});
    problems.not_secured(begin, NodeId{1}, "certificate expired");
    problems.not_secured(begin + protocol::seconds(5), NodeId{2}, "certificate expired");
    const Instant last = begin + PeerProblems::remembered_for;
    CHECK(problems.text(last) == "not connected with 1, 2: certificate expired");
    CHECK(problems.text(last + protocol::milliseconds(1)) ==
          "not connected with 2: certificate expired");
    CHECK(problems.text(last + protocol::seconds(6)).empty());
}

}  // namespace bullring::peer_problems_test
