// A member that follows, with all others connected to it: what it tells whom, and for how long it
// hears them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "tests/support/node_fixture.hpp"

namespace bullring::test {

using Ids = std::vector<std::uint64_t>;

/// To whom messages of this kind went.
template <class M>
Ids told(const Actions& actions) {
    Ids peers;
    for (const protocol::Send& send : only<protocol::Send>(actions))
        if (std::holds_alternative<M>(send.message)) peers.push_back(send.session.value / 1000);
    return peers;
}

inline std::size_t count(const Ids& ids, std::uint64_t id) {
    return static_cast<std::size_t>(std::count(ids.begin(), ids.end(), id));
}

/// The node of `config`, which never leads, and to which all the others are connected.
class Following {
public:
    explicit Following(protocol::Config config) : node(never_leads(std::move(config))) {
        node.disk_answers(true);
        node.recover();
        for (const protocol::NodeId id : others()) node.connect(id.value);
    }

    protocol::Duration h() const { return node.timing().heartbeat; }
    Actions hear_renewal(std::uint64_t leader) {
        protocol::Heartbeat heartbeat = node.heartbeat_from(leader);
        heartbeat.leader = {leader};
        heartbeat.leader_epoch = {5001};
        heartbeat.leader_announced = true;
        heartbeat.leader_remaining = protocol::milliseconds(400);
        protocol::Coordinator renewal{{5001},   node.timing().lease, node.now(), true, true,
                                      heartbeat};
        if (const auto tag = node.config().members.tag()) renewal.tag = *tag;
        return node.hear(leader, renewal);
    }
    bool hears(std::uint64_t peer) const {
        return node.view().connected.contains(*node.config().members.index({peer}));
    }
    /// For how long a peer that is silent from now on is heard.
    protocol::Duration heard_for(std::uint64_t peer) {
        const protocol::Instant since = node.now();
        while (hears(peer)) node.after(node.node().until_wake(node.now()));
        return elapsed(since, node.now());
    }

    NodeFixture node;

private:
    static protocol::Config never_leads(protocol::Config config) {
        config.priority = protocol::Priority::never();
        return config;
    }
    std::vector<protocol::NodeId> others() const {
        std::vector<protocol::NodeId> ids;
        const protocol::Membership& members = node.config().members;
        for (const protocol::Index i : members.all())
            if (members.id(i) != node.config().self) ids.push_back(members.id(i));
        return ids;
    }
};

}  // namespace bullring::test
