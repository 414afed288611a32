// Nodes that know the cluster's id, or do not yet, and what is said to them.
#pragma once

#include <optional>

#include "protocol/values/member_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol {

inline constexpr ClusterId other_id{0xBAD};

/// Of a version that knew of no ids, or of before the first leader.
inline Start without_id(const Config& config) {
    Start start = test::start_with_file(config);
    start.file->identity = {};
    return start;
}

inline Config member(std::uint64_t self = 3) { return test::config_for(self, {1, 2, 3}); }

/// Node 3, which never stands, follows 1.
inline test::NodeFixture follower(const Start& start, ClusterId peers_know) {
    Config config = member();
    config.priority = Priority::never();
    test::NodeFixture node(config, start);
    node.peers_know(peers_know);
    node.disk_answers(true);
    node.recover();
    node.connect(1);
    node.connect(2);
    return node;
}

inline Coordinator renewal(test::NodeFixture& node, Epoch epoch,
                           const std::optional<Identity>& identity) {
    Coordinator request;
    request.epoch = epoch;
    request.lease = node.timing().lease;
    request.stamp = node.now();
    request.renew = true;
    request.identity = identity;
    return request;
}

/// A heartbeat later that peer grants the renewal, and has the cluster's settled id on its disk.
inline void renew_by_who_has_the_id(test::NodeFixture& node, std::uint64_t peer) {
    node.after(node.timing().heartbeat);
    Grant grant = node.grant_from(peer);
    grant.identity = Identity{test::cluster_id, {9000}, true};
    node.hear(peer, grant);
    node.hear_heartbeat(peer);
}

inline Membership changed_list() {
    const Membership list(std::vector<NodeId>{{1}, {2}, {3}});
    return *with(list, {MemberChange::What::add, {4}, "h:4"}, {{9000}, 1});
}

inline HelloReceived hello_with_list(test::NodeFixture& node, std::uint64_t from) {
    HelloReceived hello = node.hello_from(from);
    hello.hello.version_lowest = version_with_tags;
    hello.hello.changed = changed_list();
    return hello;
}

inline bool knows_the_list(const test::NodeFixture& node) {
    return node.view().list.tag() != Tag{};
}

}  // namespace bullring::protocol
