// How a node's connections are secured, if they are: the TLS handshake comes before everything that
// transport.cpp does, and what it has found out bounds what may be said afterwards.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "src/net/transport.hpp"
#include "src/report/logging.hpp"

namespace bullring {

using protocol::NodeId;
using protocol::SessionEnd;
using protocol::SessionId;

void Transport::secure() {
    handshakes_.emplace(
        io_, Handshakes::Limits{.time = std::chrono::nanoseconds(options_.handshake_max.ns)},
        options_.migrate,
        Handshakes::Callbacks{
            [this](NodeId peer, OwnedFd fd, std::unique_ptr<TlsConnection> connection) {
                on_secured(peer, std::move(fd), std::move(connection));
            },
            [this](const Handshakes::Failure& failure) { on_handshake_failed(failure); },
            [this](OwnedFd fd) { accept_session(std::move(fd), nullptr); },
            [this](std::span<const std::byte> mourn) {
                const auto frame = decode(mourn);
                return frame && notices_.knows(frame->sender);
            },
            [this](OwnedFd fd) { accept_session(std::move(fd), nullptr).notices_only = true; }});
}

void Transport::on_secured(NodeId peer, OwnedFd fd, std::unique_ptr<TlsConnection> connection) {
    if (!peer) {
        accept_session(std::move(fd), std::move(connection));
        return;
    }
    if (is_cut()) return dialler_.on_session_over(peer, false);
    dialled_session(peer, std::move(fd), std::move(connection));
}

void Transport::on_handshake_failed(const Handshakes::Failure& failure) {
    if (!failure.dialled) {
        if (options_.refused != nullptr && (failure.late || !failure.why.empty()))
            options_.refused->add(failure.late ? "silent" : "security");
        if (failure.why.empty()) return;
        log_limited(LogLevel::warn, "not secured", source_of(failure.remote),
                    "refused the connection from " + failure.remote + ": " + failure.why);
        return;
    }
    const std::string id = std::to_string(failure.dialled.value);
    const bool plain = options_.migrate && failure.no_tls;
    log_limited(LogLevel::warn, "not secured", {id},
                "peer " + id + " at " + failure.remote + ": " + failure.why +
                    (plain ? "; dialling it without, since this is a migration" : ""));
    if (plain) plain_next_.insert(failure.dialled);
    dialler_.on_session_over(failure.dialled, false);
    if (plain) dialler_.dial_now(failure.dialled);
}

/// Whoever has been authenticated as one member can't speak for another.
std::string Transport::why_not_authentic(const Entry& entry, NodeId said) const {
    if (entry.secured == nullptr) return "";
    const PeerIdentity& who = entry.secured->peer();
    if (who == PeerIdentity{PeerRole::member, said}) return "";
    return "it is authenticated as " + to_text(who) + " and says that it is node " +
           std::to_string(said.value);
}

bool Transport::may_command(SessionId observer) const {
    const auto found = sessions_.find(observer);
    if (found == sessions_.end()) return false;
    const TlsConnection* const secured = found->second.secured;
    return secured == nullptr || secured->peer().role == PeerRole::admin;
}

void Transport::give_up_keeping(const Entry& entry) {
    if (keeps(entry)) keeper_->closed(entry.session->id());
}

/// What the keeper says in the node's place is not encrypted.
bool Transport::keeps(const Entry& entry) const {
    return keeper_ != nullptr && entry.phase == Phase::established && entry.secured == nullptr;
}

void Transport::tell_dialler_of_end(const Entry& entry) {
    if (!entry.replaced) dialler_.on_session_over(entry.peer.id, entry.phase == Phase::refused);
}

void Transport::renew(std::shared_ptr<const TlsContext> security) {
    options_.security = std::move(security);
    std::vector<SessionId> all;
    all.reserve(sessions_.size());
    for (const auto& [id, entry] : sessions_) all.push_back(id);
    for (const SessionId id : all) {
        const auto found = sessions_.find(id);
        if (found == sessions_.end()) continue;  // with another one
        Entry& entry = found->second;
        if (entry.secured == nullptr || entry.given_up) continue;
        if (const auto accepted = entry.secured->accepted_by(*options_.security); !accepted) {
            end(entry, SessionEnd::protocol, accepted.error());
        } else if (entry.side == Side::dialled && entry.phase == Phase::established) {
            entry.replaced = true;
            dialler_.replace(entry.peer.id);
        }
    }
}

}  // namespace bullring
