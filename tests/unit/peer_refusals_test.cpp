#include "src/node/report/peer_refusals.hpp"

#include <doctest/doctest.h>

namespace bullring {
namespace {

using protocol::HandshakeRefused;
using protocol::NodeId;

HandshakeRefused refused(std::uint64_t peer, bool by_us, const char* field) {
    return {NodeId{peer}, by_us, {field, "a", "b"}, "h:1"};
}

}  // namespace

TEST_CASE("peer refusals: those of one reason are told together, until they are up") {
    PeerRefusals refusals(NodeId{3});
    CHECK(refusals.text().empty());
    refusals.not_secured(NodeId{2}, "certificate expired");
    CHECK(refusals.text() == "2 refuses it: certificate expired");
    refusals.not_secured(NodeId{1}, "certificate expired");
    CHECK(refusals.text() == "1, 2 refuse it: certificate expired");
    refusals.handshake_refused({}, refused(2, false, "algorithm"));
    CHECK(refusals.text() == "1 refuses it: certificate expired");
    refusals.peer_changed({}, NodeId{1}, false);
    refusals.peer_changed({}, NodeId{1}, true);
    CHECK(refusals.text() == "2 refuses it: algorithm is 'b' here and 'a' there");
    refusals.peer_changed({}, NodeId{2}, true);
    CHECK(refusals.text().empty());
}

TEST_CASE("peer refusals: who is refused here may not be the member that it says it is") {
    PeerRefusals refusals(NodeId{3});
    refusals.handshake_refused({}, refused(2, true, "cluster"));
    CHECK(refusals.text().empty());
}

}  // namespace bullring
