// How a node's connections are secured, if they are: the TLS handshake comes before everything that
// transport.cpp does, and what it has found out bounds what may be said afterwards.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <asio/post.hpp>

#include "src/base/log/logging.hpp"
#include "src/node/net/transport.hpp"

namespace bullring {

using protocol::NodeId;
using protocol::SessionEnd;
using protocol::SessionId;

namespace {

/// To judge a certificate takes about a tenth of a millisecond, and heartbeats do not wait for
/// those of sixty-four members and as many observers.
constexpr std::size_t renewals_per_turn = 8;

/// A status has room for so many kinds of callers beside all members.
constexpr std::size_t callers_max = 16;

void count_caller(const TlsConnection& secured, const std::string& from,
                  std::vector<CallerCredential>& callers) {
    const std::string who = to_text(secured.peer());
    for (CallerCredential& one : callers) {
        if (one.who != who || one.shown != secured.credential()) continue;
        one.from = from;
        ++one.connections;
        return;
    }
    if (callers.size() < callers_max) callers.push_back({who, from, secured.credential(), 1});
}

}  // namespace

void Transport::secure() {
    handshakes_.emplace(
        io_, Handshakes::Limits{.time = std::chrono::nanoseconds(options_.handshake_max.ns)},
        options_.migrate,
        Handshakes::Callbacks{
            [this](Dial dial, OwnedFd fd, std::unique_ptr<TlsConnection> connection) {
                on_secured(dial, std::move(fd), std::move(connection));
            },
            [this](const Handshakes::Failure& failure) { on_handshake_failed(failure); },
            [this](OwnedFd fd) { accept_session(std::move(fd), nullptr); },
            [this](std::span<const std::byte> mourn) {
                const auto frame = decode(mourn);
                return frame && notices_.knows(frame->sender);
            },
            [this](OwnedFd fd) { accept_session(std::move(fd), nullptr).notices_only = true; }});
}

void Transport::on_secured(Dial dial, OwnedFd fd, std::unique_ptr<TlsConnection> connection) {
    // A handshake can be held open, and who is let in may have changed meanwhile.
    if (!is_up_to_date(*connection)) {
        if (const auto accepted = connection->accepted_by(*options_.security); !accepted)
            return on_handshake_failed(
                {dial, tcp::addresses_of(fd.get()).remote, accepted.error()});
    }
    if (!dial) {
        accept_session(std::move(fd), std::move(connection));
        return;
    }
    if (is_cut()) return dialler_.on_session_over(dial, false);
    dialled_session(dial, std::move(fd), std::move(connection));
}

void Transport::on_handshake_failed(const Handshakes::Failure& failure) {
    if (!failure.dial) {
        if (options_.refused != nullptr && (failure.late || !failure.why.empty()))
            options_.refused->add(failure.late ? "silent" : "security");
        if (failure.why.empty()) return;
        log_limited(LogLevel::warn, "not secured", source_of(failure.remote),
                    "refused the connection from " + failure.remote + ": " + failure.why);
        return;
    }
    const NodeId peer = failure.dial.peer;
    // It may have no security yet, or come from keys to certificates.
    const bool plain = options_.migrate && !failure.late;
    tell_not_secured(
        peer, " at " + failure.remote,
        failure.why + (plain ? "; dialling it without, since this is a migration" : ""));
    if (plain) plain_next_.insert(peer);
    dialler_.on_session_over(failure.dial, false);
    if (plain) dialler_.dial_now(peer);
}

void Transport::tell_not_secured(NodeId peer, const std::string& where, const std::string& why) {
    const std::string id = std::to_string(peer.value);
    log_limited(LogLevel::warn, "not secured", {id}, "peer " + id + where + ": " + why);
    options_.not_secured(peer, why);
}

/// A member that was authenticated as one ID cannot speak for another.
std::string Transport::why_not_authentic(const Entry& entry, NodeId said) const {
    if (entry.secured == nullptr) return "";
    const PeerIdentity& who = entry.secured->peer();
    if (who == PeerIdentity{PeerRole::member, said}) return "";
    return "it is authenticated as " + to_text(who) + " and says that it is node " +
           std::to_string(said.value);
}

Caller Transport::caller_of(SessionId observer) const {
    const auto found = sessions_.find(observer);
    if (found == sessions_.end()) return {"", "", "a connection that is over", false};
    const Entry& entry = found->second;
    if (entry.local) return caller_at(entry.session->descriptor());
    Caller caller{"", "", entry.addresses.remote, source_of(entry.addresses.remote).member};
    if (entry.secured == nullptr) return caller;
    caller.by = to_text(entry.secured->peer());
    caller.credential = to_text(entry.secured->credential());
    return caller;
}

bool Transport::is_local(SessionId observer) const {
    const auto found = sessions_.find(observer);
    return found != sessions_.end() && found->second.local;
}

bool Transport::may_command(SessionId observer) const {
    const auto found = sessions_.find(observer);
    if (found == sessions_.end()) return false;
    if (found->second.local) return true;
    const TlsConnection* const secured = found->second.secured;
    return secured == nullptr || secured->peer().role == PeerRole::admin;
}

protocol::NodeId Transport::certified_member(SessionId observer) const {
    const auto found = sessions_.find(observer);
    if (found == sessions_.end() || found->second.secured == nullptr) return protocol::nobody;
    const PeerIdentity& peer = found->second.secured->peer();
    return peer.role == PeerRole::member ? peer.id : protocol::nobody;
}

SessionCredentials Transport::credentials(SessionId asker) const {
    SessionCredentials all;
    std::set<NodeId> by_itself;  // has dialled
    if (options_.security == nullptr) return all;
    for (const auto& [id, entry] : sessions_) {
        const TlsConnection* const secured = entry.secured;
        if (entry.phase == Phase::observer && secured != nullptr && id != asker)
            count_caller(*secured, entry.addresses.remote, all.callers);
        if (entry.phase != Phase::established || entry.given_up) continue;
        const bool dialled = entry.side == Side::dialled;
        PeerCredential& peer = all.peers[entry.peer.id];
        if (secured == nullptr) {
            peer.secured = false;
            continue;
        }
        if (dialled) peer.dialled_with = secured->credential().key;
        // A key is the dialler's: the other end shows none of its own.
        if (dialled && (!peer.dialled_with.empty() || by_itself.contains(entry.peer.id))) continue;
        if (!dialled) by_itself.insert(entry.peer.id);
        peer.shown = secured->credential();
    }
    return all;
}

void Transport::give_up_keeping(const Entry& entry) {
    if (keeps(entry)) keeper_->closed(entry.session->id());
}

/// The keeper's messages in the node's place are not encrypted.
bool Transport::keeps(const Entry& entry) const {
    return keeper_ != nullptr && entry.phase == Phase::established && entry.secured == nullptr;
}

void Transport::tell_dialler_of_end(const Entry& entry) {
    dialler_.on_session_over(entry.dial, entry.phase == Phase::refused);
}

// ---- New credentials.

bool Transport::is_up_to_date(const TlsConnection& connection) const {
    return &connection.context() == options_.security.get();
}

void Transport::renew(std::shared_ptr<const TlsContext> security) {
    options_.security = std::move(security);
    const bool under_way = !renewing_.empty();
    renewing_.clear();
    for (const auto& [id, entry] : sessions_) renewing_.push_back(id);
    if (!under_way) renew_some();
}

void Transport::renew_some() {
    for (std::size_t i = 0; i < renewals_per_turn && !renewing_.empty(); ++i) {
        const auto found = sessions_.find(renewing_.front());
        renewing_.pop_front();
        if (found != sessions_.end()) renew(found->second);
    }
    if (renewing_.empty()) return;
    asio::post(io_, [this, alive = alive_] {
        if (*alive) renew_some();
    });
}

/// `entry` may be gone afterwards.
void Transport::renew(Entry& entry) {
    if (entry.secured == nullptr || entry.given_up || is_up_to_date(*entry.secured)) return;
    const auto accepted = entry.secured->accepted_by(*options_.security);
    const bool of_member = entry.phase == Phase::established;
    if (of_member && entry.side == Side::dialled) dialler_.replace(entry.dial);
    if (accepted) return;
    // A member may have new credentials by now, which it had not when this session began, and be
    // about to replace it.
    if (of_member)
        end_unless_replaced(entry);
    else
        end(entry, SessionEnd::protocol, accepted.error());
}

void Transport::end_unless_replaced(Entry& entry) {
    at_deadline(entry, [this](Entry& old) {
        if (old.given_up) return;
        const auto accepted = old.secured->accepted_by(*options_.security);
        if (!accepted) end(old, SessionEnd::protocol, accepted.error());
    });
}

}  // namespace bullring
