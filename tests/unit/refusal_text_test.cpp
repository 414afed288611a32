// The line that a user reads of each refused handshake, for each way in which the node was started:
// every remedy belongs to its cause.
#include "src/node/report/refusal_text.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "protocol/values/names.hpp"

namespace bullring::refusal_text_test {
namespace {

using protocol::Difference;
using protocol::HandshakeRefused;
using protocol::NodeId;
using protocol::refusal;

constexpr NodeId self{4};
constexpr NodeId peer{1};

enum Way { peers, join, join_as, refounded, wire, restored, ways };
constexpr std::array<const char*, ways> way_names{"--peers", "--join",   "--join-as",
                                                  "refound", "--wire 2", "restored disk"};

WayToStart way_of(Way way) {
    WayToStart start;
    start.joins = way == join || way == join_as;
    start.says_where = way == join_as;
    start.had_state = way == refounded || way == restored || way == wire;
    if (way == wire) start.wire_highest = 2;
    return start;
}

/// A kind of refusal, and a few words of what is read of it, one for each way; empty: no remedy.
struct Row {
    Difference what;
    HandshakeRefused refused;
    std::array<const char*, ways> remedies;
};

std::array<const char*, ways> all(const char* words) {
    return {words, words, words, words, words, words};
}

HandshakeRefused by_peer(Difference what, std::string mine, std::string yours) {
    return {peer, false, refusal(what, std::move(mine), std::move(yours)), {}};
}

const char* const old_directory = "if this node's directory is another cluster's";

/// Node 4 is refused by node 1.
std::vector<Row> rows() {
    return {
        {Difference::version,
         by_peer(Difference::version, "3-4", "1-2"),
         {"upgrade this node", "upgrade this node", "upgrade this node", "upgrade this node",
          "take --wire 2 from this node: a list of members that was changed needs 3",
          "upgrade this node"}},
        {Difference::version, by_peer(Difference::version, "1-2", "3-4"),
         all("take --wire from node 1, or upgrade it")},
        {Difference::cluster,
         by_peer(Difference::cluster, "blue", "green"),
         {"correct --cluster, or the addresses in --peers",
          "correct --cluster, or the addresses of --join",
          "correct --cluster, or the addresses of --join",
          "the addresses in --peers and in the list (bullring member address)",
          "the addresses in --peers and in the list (bullring member address)",
          "the addresses in --peers and in the list (bullring member address)"}},
        {Difference::founders,
         by_peer(Difference::founders, "1,2,3", "4"),
         {"if one was founded beside the other", "correct the addresses of --join",
          "correct the addresses of --join", old_directory, old_directory, old_directory}},
        {Difference::cluster_id,
         by_peer(Difference::cluster_id, "5f0c6d3a91b2e874", "03d1"),
         {"if one was founded beside the other", "correct the addresses of --join",
          "correct the addresses of --join", old_directory, old_directory, old_directory}},
        {Difference::quorum,
         by_peer(Difference::quorum, "majority", "none"),
         {"give all members the same --quorum", "give this node the --quorum of the others",
          "give this node the --quorum of the others", "give all members the same --quorum",
          "give all members the same --quorum", "give all members the same --quorum"}},
        {Difference::algorithm,
         by_peer(Difference::algorithm, "bully", "ring"),
         {"give all members the same --algorithm", "give this node the --algorithm of the others",
          "give this node the --algorithm of the others", "give all members the same --algorithm",
          "give all members the same --algorithm", "give all members the same --algorithm"}},
        {Difference::rho, by_peer(Difference::rho, "1000", "500"), all("the same build")},
        {Difference::members,
         by_peer(Difference::members, "1,2,3", "1,2,3,4"),
         {"give all members the same --peers", "give all who found the cluster the same --peers",
          "give all who found the cluster the same --peers", "the lists in the state files hold",
          "the lists in the state files hold", "the lists in the state files hold"}},
        {Difference::member,
         by_peer(Difference::member, "1,2,3", "4"),
         {"bullring member add 4=HOST:PORT", "", "", "bullring member add 4=HOST:PORT",
          "if it was removed, end it", "if it was removed, end it"}},
        {Difference::member, by_peer(Difference::member, "", "4"), all("")},
        {Difference::id,
         {peer, false, protocol::twin_refusal(self), {}},
         {"give it an --id of its own", "give it an --id of its own", "give it an --id of its own",
          "an empty directory, if that of node 4 was copied", "if that of node 4 was copied",
          "if that of node 4 was copied"}},
        {Difference::id,
         {peer, false, protocol::own_id_refusal(self), {}},
         {"correct the addresses in --peers", "correct the addresses of --join",
          "correct the addresses of --join", "and in the list (bullring member address)",
          "and in the list (bullring member address)",
          "and in the list (bullring member address)"}},
        {Difference::id,
         by_peer(Difference::id, "3", "1"),
         {"correct the addresses in --peers", "correct the addresses of --join",
          "correct the addresses of --join", "and in the list (bullring member address)",
          "and in the list (bullring member address)",
          "and in the list (bullring member address)"}},
        {Difference::id,
         by_peer(Difference::id, "one of 1,2,3", "4"),
         {"correct --id, or give all members the same --peers", "", "", "correct --id",
          "correct --id", "correct --id"}},
        {Difference::session, by_peer(Difference::session, "already open", "7"), all("")},
        {Difference::address,
         by_peer(Difference::address, "", "10.7.0.1"),
         {"does --peers there have this node at that address?", "behind NAT give --join-as",
          "is --join-as where this node calls from?", "does the list have this node",
          "does the list have this node", "does the list have this node"}},
    };
}

}  // namespace

TEST_CASE("refusals: each difference has its remedy for each way to start a node") {
    std::map<Difference, int> seen;
    for (const Row& row : rows()) {
        ++seen[row.what];
        for (int way = 0; way < ways; ++way) {
            const std::string line = refusal_text(row.refused, self, way_of(static_cast<Way>(way)));
            const std::string said = remedy(row.refused, self, way_of(static_cast<Way>(way)));
            CAPTURE(name(row.what));
            CAPTURE(way_names.at(static_cast<std::size_t>(way)));
            CAPTURE(line);
            const std::string expected = row.remedies.at(static_cast<std::size_t>(way));
            CHECK(said.empty() == expected.empty());
            CHECK(said.find(expected) != std::string::npos);
            CHECK(line == why_refused(row.refused, self) + (said.empty() ? "" : "; " + said));
            // The address that is dialled has nothing to do with these.
            if (row.what != Difference::address) CHECK(line.find("--join-as") == std::string::npos);
        }
    }
    for (const Difference what : protocol::enumerators<Difference>()) {
        CAPTURE(name(what));
        CHECK(seen[what] > 0);
    }
}

TEST_CASE("refusals: who refuses is told what is to be done at the other end") {
    const auto by_us = [](const protocol::Refused& what, NodeId of = peer) {
        return refusal_text({of, true, what, "10.0.0.1:4001"}, self, {});
    };
    CHECK(by_us(refusal(Difference::algorithm, "bully", "ring")) ==
          "algorithm is 'bully' here and 'ring' there; give all members the same --algorithm");
    CHECK(by_us(refusal(Difference::version, "3-4", "1-2")) ==
          "version is '3-4' here and '1-2' there; take --wire from node 1, or upgrade it (bullring "
          "help upgrade)");
    CHECK(by_us(refusal(Difference::member, "2,3,4", "1")) ==
          "it is not one of the members 2,3,4; have it added (bullring member add 1=HOST:PORT), or "
          "end it");
    CHECK(by_us(protocol::twin_refusal(peer)) ==
          "another process with id 1 is connected; end one of the two, or give it an --id of its "
          "own");
    CHECK(
        by_us(refusal(Difference::id, "one of 2,3,4", "1")) ==
        "id is 'one of 2,3,4' here and '1' there; correct the --id of node 1, or give all members "
        "the same --peers");
    CHECK(by_us(protocol::own_id_refusal(self), self) ==
          "it has this node's own id; give each node an --id of its own; if this node has dialled "
          "itself, correct the addresses in --peers");
}

TEST_CASE("refusals: a word of a newer program is told as it is") {
    CHECK(refusal_text({peer, false, {"phase", "new", "full"}, {}}, self, {}) ==
          "phase is 'full' here and 'new' there; upgrade the older of the two (bullring help "
          "upgrade)");
}

}  // namespace bullring::refusal_text_test
