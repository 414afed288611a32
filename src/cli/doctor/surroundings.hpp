// Owns: what this machine knows of the members, asked for once and with a limit of time: what their
// names mean, who takes connections, and what those say of themselves. Whether that is good is
// judged elsewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"
#include "src/observe/status_report.hpp"
#include "src/settings/node_options.hpp"

namespace bullring::doctor {

using Addresses = std::vector<asio::ip::tcp::endpoint>;
using Resolved = tl::expected<Addresses, std::string>;

/// How somebody takes a connection, or not: a machine that answers "nobody here" is another case
/// than silence.
struct Reach {
    int error = 0;  // 0: connected; ETIMEDOUT: nothing came back in time; else what the kernel says
    protocol::Duration round_trip;      // of the connection
    asio::ip::tcp::endpoint connected;  // to which of the addresses
};

struct Surroundings {
    std::map<protocol::NodeId, Resolved> names;
    Resolved listen;  // where this node would listen
    Resolved http;    // the same of HTTP; empty: nowhere, or at a Unix socket
    // Of those whose names mean something, this node's own entry among them.
    std::map<protocol::NodeId, Reach> reached;
    std::map<protocol::NodeId, MemberAnswer> answers;  // of those that take connections
    std::vector<MemberAnswer> joined;                  // of those whom a node that joins would ask
    bool lookups_pending = false;  // threads that can't be stopped look names up still

    /// Whether this node runs already, at its own address.
    bool runs(const NodeOptions& options) const;
};

/// Takes four times `patience` at most, for names, connections and answers. `list`: of the state
/// file, whose members are asked, too, by a node that joins.
Surroundings look_around(const NodeOptions& options, const protocol::Membership& list,
                         protocol::Duration patience);

}  // namespace bullring::doctor
