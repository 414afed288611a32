// Owns: the course of `resign`. It finds the leader, asks it to hand over, asks again while it
// refuses, waits until another one is in place, and knows at each point what to say when the time
// is up. The members and the clock are its caller's (ResignMembers). Prints nothing.
#pragma once

#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/observer_link.hpp"
#include "src/observe/status_report.hpp"

namespace bullring {

/// The members, and the time within which they may be asked. Nothing takes longer than that: what
/// is cut off ends as if nobody had answered.
class ResignMembers {
public:
    virtual ~ResignMembers() = default;

    virtual bool time_is_up() const = 0;
    virtual asio::awaitable<void> pause() = 0;
    virtual asio::awaitable<std::vector<MemberAnswer>> ask(Enough enough) = 0;
    /// Sends the request to hand over. False: that member can't be reached.
    virtual asio::awaitable<bool> request(protocol::NodeId leader, protocol::NodeId successor) = 0;
    /// The member's answer to the last request. Waits a moment only: after a time-out it may be
    /// called again.
    virtual asio::awaitable<tl::expected<ObserverMessage, LinkFailure>> answer() = 0;
};

struct ResignOutcome {
    int exit_status = 1;
    std::string text;  // for stdout when the status is 0, otherwise the reason
    bool operator==(const ResignOutcome&) const = default;
};

/// `successor`: `nobody` when the leader may choose. `timeout` is only printed.
asio::awaitable<ResignOutcome> resign_leader(ResignMembers& members, protocol::NodeId successor,
                                             protocol::Duration timeout);

}  // namespace bullring
