// The cluster as a command that wants something of its leader sees it: it can ask the members, and
// send the leader a request. ReachedCluster (reached_cluster.hpp) is a real one.
#pragma once

#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"
#include "src/observe/asking.hpp"
#include "src/observe/observer_link.hpp"
#include "src/observe/status_report.hpp"

namespace bullring {

/// The members, and the time within which they may be asked. Nothing takes longer than that: what
/// is cut off ends as if nobody had answered.
class AskedCluster {
public:
    virtual ~AskedCluster() = default;

    /// Its name, for requests.
    virtual const std::string& name() const = 0;
    virtual bool time_is_up() const = 0;
    virtual asio::awaitable<void> pause() = 0;
    virtual asio::awaitable<std::vector<MemberAnswer>> ask(Enough enough) = 0;
    /// It can ask one member only, whose word has to do.
    virtual bool asks_one() const { return false; }
    /// Sends the leader a request. False: that member can't be reached.
    virtual asio::awaitable<bool> request(protocol::NodeId leader, ObserverMessage request) = 0;
    /// The member's answer to the last request. Waits a moment only: after a time-out it may be
    /// called again.
    virtual asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() = 0;
};

struct Outcome {
    int exit_status = 1;
    std::string text;  // for stdout when the status is 0, otherwise the reason
    bool operator==(const Outcome&) const = default;
};

}  // namespace bullring
