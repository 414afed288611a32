// The lines on credentials below the table of `status`, and the reasons for which `bullring key
// remove` refuses.
#include "src/observe/credential_report.hpp"

#include <doctest/doctest.h>

namespace bullring::credential_report_test {
namespace {

using protocol::NodeId;
using Lines = std::vector<std::string>;

constexpr NodeId one{1};
constexpr NodeId two{2};
constexpr NodeId three{3};
const std::string old_key = "3f6a12aa";
const std::string new_key = "0b22c1d3";

ShownCredential by_key(const std::string& id) {
    ShownCredential shown;
    shown.key = id;
    return shown;
}

ShownCredential by_certificate(const std::string& serial, const ShownCa& issuer) {
    ShownCredential shown;
    shown.certificate = serial;
    shown.subject = "CN=node";
    shown.issuer = issuer;
    return shown;
}

MemberAnswer member(NodeId id, const OwnCredential& own) {
    MemberAnswer made;
    made.id = id;
    made.answer.emplace();
    made.answer->id = id;
    made.answer->list = protocol::Membership(std::vector<NodeId>{one, two, three});
    made.answer->credential = own;
    return made;
}

/// Dials with the first key.
OwnCredential keys(const Lines& accepted) {
    OwnCredential own;
    own.shown = by_key(accepted.front());
    own.accepts = accepted;
    return own;
}

/// All hear each other, by what each has now.
std::vector<MemberAnswer> settled(const std::vector<OwnCredential>& own) {
    std::vector<MemberAnswer> members;
    for (std::size_t i = 0; i < own.size(); ++i) members.push_back(member({i + 1}, own[i]));
    for (MemberAnswer& to : members)
        for (const MemberAnswer& from : members)
            if (from.id != to.id)
                to.answer->sessions.peers[from.id] = {true, from.answer->credential.shown,
                                                      to.answer->credential.shown.key};
    return members;
}

}  // namespace

TEST_CASE("credentials: members that have the same say nothing of them") {
    const OwnCredential both = keys({new_key, old_key});
    CHECK(credential_differences(settled({both, both, both})).empty());
    CHECK(credential_differences({member(one, {}), member(two, {})}).empty());
}

TEST_CASE("credentials: who dials with another key than the others is named") {
    CHECK(credential_differences(settled(
              {keys({new_key, old_key}), keys({old_key, new_key}), keys({new_key, old_key})})) ==
          Lines{"nodes 1, 3 use key 0b22c1d3; node 2 uses key 3f6a12aa"});
}

TEST_CASE("credentials: who does not answer is known by what it has shown") {
    std::vector<MemberAnswer> members =
        settled({keys({new_key, old_key}), keys({old_key, new_key}), keys({new_key, old_key})});
    members[1].answer.reset();
    CHECK(credential_differences(members) ==
          Lines{"nodes 1, 3 use key 0b22c1d3; node 2 uses key 3f6a12aa"});
}

TEST_CASE("credentials: who does not accept a key yet, or any more, is named") {
    CHECK(credential_differences(
              settled({keys({old_key, new_key}), keys({old_key, new_key}), keys({old_key})})) ==
          Lines{"key 0b22c1d3 is not accepted by node 3"});
    OwnCredential with_observers = keys({old_key});
    with_observers.observer_keys = {"11111111"};
    CHECK(credential_differences(settled({with_observers, keys({old_key})})) ==
          Lines{"the observers' key 11111111 is not accepted by node 2"});
}

TEST_CASE("credentials: a connection that is older than the keys of its members is named once") {
    const OwnCredential both = keys({new_key, old_key});
    std::vector<MemberAnswer> members = settled({both, both, both});
    members[0].answer->sessions.peers[two].shown = by_key(old_key);
    members[1].answer->sessions.peers[one].dialled_with = old_key;
    members[2].answer->sessions.peers[two].shown = by_key(old_key);
    CHECK(credential_differences(members) ==
          Lines{"node 2 is still connected with nodes 1, 3 by key 3f6a12aa"});
}

TEST_CASE("credentials: certificates differ by their CAs, also where those have one name") {
    const ShownCa before{"CN=ca", "AAAA000011112222"};
    const ShownCa after{"CN=ca", "BBBB000011112222"};
    OwnCredential old_one;
    old_one.shown = by_certificate("01", before);
    old_one.trusts = {before, after};
    OwnCredential new_one = old_one;
    new_one.shown = by_certificate("02", after);
    CHECK(
        credential_differences(settled({new_one, old_one, new_one})) ==
        Lines{"nodes 1, 3 use a certificate of CN=ca (key BBBB0000); node 2 uses a certificate of "
              "CN=ca (key AAAA0000)"});
    OwnCredential early = old_one;
    early.trusts = {before};
    CHECK(credential_differences(settled({old_one, old_one, early})) ==
          Lines{"the CA CN=ca (key BBBB0000) is not accepted by node 3"});
    OwnCredential told = old_one;
    told.revocations = {"list 2 of CN=ca"};
    CHECK(credential_differences(settled({told, told, old_one})) ==
          Lines{"nodes 1, 2 have revoked what is in list 2 of CN=ca; node 3 has revoked nothing"});
}

TEST_CASE("credentials: members that are connected without security are named") {
    std::vector<MemberAnswer> members = settled({keys({old_key}), keys({old_key})});
    members[0].answer->sessions.peers[two].secured = false;
    members[1].answer->sessions.peers[one].secured = false;
    CHECK(credential_differences(members) == Lines{"nodes 1 and 2 are connected without security"});
}

TEST_CASE("credentials: a key that nobody uses is needed by nobody") {
    const OwnCredential both = keys({new_key, old_key});
    const NodeAnswer node = *settled({both, both, both}).front().answer;
    CHECK(needs_of_key(node, old_key).empty());
    CHECK(needs_of_key(node, "99999999").empty());
}

TEST_CASE("credentials: who would not be let in without a key is named") {
    const OwnCredential both = keys({new_key, old_key});
    NodeAnswer node = *settled({both, both, both}).front().answer;
    node.sessions.peers[two].shown = by_key(old_key);
    node.sessions.peers[three].dialled_with = old_key;
    node.sessions.callers = {{"an administrator", "10.0.0.7:41232", by_key(old_key), 1},
                             {"an observer", "10.0.0.8:41232", by_key(new_key), 1}};
    CHECK(needs_of_key(node, old_key) ==
          Lines{"an administrator at 10.0.0.7:41232 has come with it", "node 2 dials with it",
                "node 3 lets node 1 in with it alone"});
    node.sessions = {};
    node.credential = keys({old_key, new_key});
    CHECK(needs_of_key(node, old_key) ==
          Lines{"node 1 dials with it",
                "node 2 is not connected, so nobody knows which key it dials with",
                "node 3 is not connected, so nobody knows which key it dials with"});
}

TEST_CASE("credentials: an observers' key is needed by those who have come with it alone") {
    NodeAnswer node = *member(one, keys({new_key})).answer;
    node.credential.observer_keys = {old_key};
    CHECK(needs_of_key(node, old_key).empty());
    node.sessions.callers = {{"an observer", "10.0.0.8:41232", by_key(old_key), 1}};
    CHECK(needs_of_key(node, old_key) == Lines{"an observer at 10.0.0.8:41232 has come with it"});
}

}  // namespace bullring::credential_report_test
