// How a node treats connections that may not come from members: how many it holds, and what it
// tells them.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/values/assert.hpp"
#include "src/base/log/logging.hpp"
#include "src/node/net/transport.hpp"

namespace bullring {

using protocol::Message;
using protocol::SessionEnd;
using protocol::SessionId;

// ---- Places.

void Transport::on_accepted(OwnedFd fd) {
    if (options_.is_reserved(fd.get(), options_.peers.size())) {
        log_limited(LogLevel::warn, "descriptors", {},
                    "too many open files: only the members' hosts can still connect");
        if (!source_of(tcp::addresses_of(fd.get()).remote).member) return;
        give_up_a_stranger();  // if there is one: a member is let in anyway
    }
    own_hosts_.insert(tcp::host_of(tcp::addresses_of(fd.get()).local));
    make_room_for_one_more();
    if (!handshakes_) {
        accept_session(std::move(fd), nullptr);
        return;
    }
    tcp::set_options(fd.get(), options_.unacknowledged_max);
    const bool member = source_of(tcp::addresses_of(fd.get()).remote).member;
    handshakes_->accept(std::move(fd), options_.security, member);
}

void Transport::listen_locally(OwnedFd listener) {
    std::vector<OwnedFd> listeners;
    listeners.push_back(std::move(listener));
    // Its handlers may be queued: it ends with this object.
    if (local_acceptor_) {
        local_acceptor_->stop();
        old_local_acceptors_.push_back(std::move(local_acceptor_));
    }
    local_acceptor_ = std::make_unique<Acceptor>(
        io_, std::move(listeners),
        Acceptor::Callbacks{[this](OwnedFd fd) { on_accepted_locally(std::move(fd)); },
                            [this](const std::string& what) { handler_.on_fatal(what); }});
    local_acceptor_->start();
}

void Transport::on_accepted_locally(OwnedFd fd) {
    if (options_.is_reserved(fd.get(), options_.peers.size())) give_up_a_stranger();
    make_room_for_one_more();
    Entry& entry = accept_session(std::move(fd), nullptr);
    entry.local = true;
    entry.addresses = {"this machine", "this machine"};
}

Transport::Entry& Transport::accept_session(OwnedFd fd, std::unique_ptr<TlsConnection> connection) {
    tcp::set_keep_alive(fd.get());
    Entry& entry = add(Side::accepted, std::move(fd), std::move(connection),
                       options_.observer_outbox_bytes_max);
    greeting_.push_back(entry.session->id());
    return entry;
}

void Transport::at_deadline(Entry& entry, std::function<void(Entry&)> then) {
    entry.deadline = std::make_unique<asio::steady_timer>(
        io_, std::chrono::nanoseconds(options_.handshake_max.ns));
    entry.deadline->async_wait(
        [this, id = entry.session->id(), then = std::move(then)](const asio::error_code& error) {
            const auto found = sessions_.find(id);
            if (!error && found != sessions_.end()) then(found->second);
        });
}

void Transport::set_deadline(Entry& entry) {
    at_deadline(entry, [this](Entry& late) {
        if (late.phase == Phase::established || late.phase == Phase::observer ||
            late.phase == Phase::mourner)
            return;
        end(late, SessionEnd::timeout, "no handshake in time");
    });
}

void Transport::end_greeting(Entry& entry) {
    if (entry.phase == Phase::greeting) std::erase(greeting_, entry.session->id());
}

void Transport::make_room_for_one_more() {
    const std::size_t shaking = handshakes_ ? handshakes_->accepted() : 0;
    if (greeting_.size() + shaking < options_.unauthenticated_max) return;
    if (shaking > 0 && handshakes_->give_up_one(false)) return;
    // The oldest: a member says HELLO at once, so it is not a member that is thrown out.
    const auto found = sessions_.find(greeting_.front());
    BULLRING_ASSERT(found != sessions_.end());
    log_limited(
        LogLevel::warn, "unauthenticated", {},
        "too many silent connections; dropped the one from " + found->second.addresses.remote);
    end(found->second, SessionEnd::timeout, "");
}

/// For a member: a connection from elsewhere that has said nothing, or else an observer's or that
/// of one who waits for a notice at no member's host. What comes from a member's host and has said
/// nothing yet may be a member's.
void Transport::give_up_a_stranger() {
    if (handshakes_ && handshakes_->give_up_one(true)) return;
    const auto silent = std::find_if(greeting_.begin(), greeting_.end(), [this](SessionId session) {
        return !source_of(session).member;
    });
    const auto found =
        silent != greeting_.end()
            ? sessions_.find(*silent)
            : std::find_if(sessions_.begin(), sessions_.end(), [this](const auto& one) {
                  return one.second.phase == Phase::observer ||
                         (one.second.phase == Phase::mourner && !source_of(one.first).member);
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
/// if it is misconfigured, has to; all others learn no more than the version. A dialler that
/// learns of another process with its id has already named the right cluster and members.
Message Transport::as_shown_to(const Entry& entry, const protocol::Refused& refused) const {
    if (protocol::differs_in(refused, protocol::Difference::version) ||
        protocol::is_twin_refusal(refused, entry.peer.id) || entry.secured != nullptr ||
        source_of(entry.addresses.remote).member)
        return refused;
    return protocol::refusal(protocol::Difference::address, "",
                             tcp::host_of(entry.addresses.remote));
}

LogSource Transport::source_of(const std::string& address) const {
    const std::string host = tcp::host_of(address);
    return {host, own_hosts_.contains(host) || dialler_.is_host_of_peer(host)};
}

LogSource Transport::source_of(SessionId session) const {
    const auto found = sessions_.find(session);
    return found == sessions_.end() ? LogSource{"", false}
                                    : source_of(found->second.addresses.remote);
}

}  // namespace bullring
