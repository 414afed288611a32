// How a node treats connections that may not come from members: how many it holds, and what it
// tells them.
#include <algorithm>
#include <string>
#include <utility>

#include "protocol/values/assert.hpp"
#include "src/net/transport.hpp"
#include "src/report/logging.hpp"

namespace bullring {

using protocol::Message;
using protocol::SessionEnd;
using protocol::SessionId;

namespace {

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace

// ---- Places.

void Transport::on_accepted(OwnedFd fd) {
    if (options_.is_reserved(fd.get())) {
        log_limited(LogLevel::warn, "descriptors", {},
                    "too many open files: only the members' hosts can still connect");
        if (!source_of(tcp::addresses_of(fd.get()).remote).member) return;
        give_up_a_stranger();  // if there is one: a member is let in anyway
    }
    make_room_for_one_more();
    tcp::set_keep_alive(fd.get());
    const Entry& entry = add(Side::accepted, std::move(fd), options_.observer_outbox_bytes_max);
    own_hosts_.insert(host_of(entry.addresses.local));
    greeting_.push_back(entry.session->id());
}

void Transport::make_room_for_one_more() {
    if (greeting_.size() < options_.unauthenticated_max) return;
    // The oldest: a member says HELLO at once, so it is not a member that is thrown out.
    const auto found = sessions_.find(greeting_.front());
    BULLRING_ASSERT(found != sessions_.end());
    log_limited(
        LogLevel::warn, "unauthenticated", {},
        "too many silent connections; dropped the one from " + found->second.addresses.remote);
    end(found->second, SessionEnd::timeout, "");
}

/// For a member: a connection from elsewhere that has said nothing, or else an observer's. What
/// comes from a member's host and has said nothing yet may be a member's.
void Transport::give_up_a_stranger() {
    const auto silent = std::find_if(greeting_.begin(), greeting_.end(), [this](SessionId session) {
        return !source_of(session).member;
    });
    const auto found = silent != greeting_.end()
                           ? sessions_.find(*silent)
                           : std::find_if(sessions_.begin(), sessions_.end(), [](const auto& one) {
                                 return one.second.phase == Phase::observer;
                             });
    if (found != sessions_.end()) end(found->second, SessionEnd::timeout, "");
}

// ---- Refusals.

/// Of a connection that has never said who it is. One that just ends asked for nothing.
void Transport::count_refused(SessionEnd how) {
    if (options_.refused == nullptr) return;
    if (how == SessionEnd::protocol) options_.refused->add("garbage");
    if (how == SessionEnd::timeout) options_.refused->add("silent");
}

/// A refusal names the cluster and its members. A caller at a member's address may know them, and
/// if it is misconfigured, has to; all others are told no more than the version. A dialler that
/// learns of another process with its id has already named the right cluster and members.
Message Transport::as_told_to(const Entry& entry, const protocol::Refused& refused) const {
    if (refused.field == "version" || refused == protocol::twin_refusal(entry.peer.id) ||
        source_of(entry.addresses.remote).member)
        return refused;
    return protocol::Refused{std::string(protocol::refused_untold), "",
                             host_of(entry.addresses.remote)};
}

LogSource Transport::source_of(const std::string& address) const {
    const std::string host = host_of(address);
    return {host, own_hosts_.contains(host) || dialler_.is_host_of_peer(host)};
}

LogSource Transport::source_of(SessionId session) const {
    const auto found = sessions_.find(session);
    return found == sessions_.end() ? LogSource{"", false}
                                    : source_of(found->second.addresses.remote);
}

}  // namespace bullring
