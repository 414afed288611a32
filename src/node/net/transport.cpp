#include "src/node/net/transport.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "protocol/values/assert.hpp"
#include "src/base/log/logging.hpp"

namespace bullring {

using protocol::Message;
using protocol::NodeId;
using protocol::SessionEnd;
using protocol::SessionId;

namespace {

/// How long a closed session may still send what was queued.
constexpr std::chrono::seconds drain_max{1};

Outbox::Kind outbox_kind(const Message& message) {
    if (std::holds_alternative<protocol::Heartbeat>(message)) return Outbox::Kind::newest_heartbeat;
    if (std::holds_alternative<protocol::Coordinator>(message))
        return Outbox::Kind::newest_coordinator;
    return Outbox::Kind::plain;
}

bool is_handshake(const Message& message) {
    return std::holds_alternative<protocol::Hello>(message) ||
           std::holds_alternative<protocol::HelloAck>(message) ||
           std::holds_alternative<protocol::Refused>(message);
}

/// The dialler's HELLO has offered these versions, where there is something to say in them.
std::uint16_t version_of(const protocol::Refused& refused, std::uint16_t lowest) {
    if (refused.cluster_id) return protocol::version_with_identity;
    return refused.list ? protocol::version_with_tags : lowest;
}

std::string who(const protocol::Addresses& addresses, NodeId peer) {
    return peer ? "peer " + std::to_string(peer.value) : addresses.remote;
}

}  // namespace

Transport::Transport(asio::io_context& io, TransportOptions options, TransportHandler& handler)
    : io_(io),
      options_(std::move(options)),
      handler_(handler),
      dialler_(io, options_.self.id, options_.peers, options_.dial, options_.seed,
               {[this](Dial dial, OwnedFd fd) { on_connected(dial, std::move(fd)); },
                [this](const std::string& what) { handler_.on_fatal(what); },
                [](NodeId peer, const std::string& why) {
                    log(LogLevel::warn,
                        "peer " + std::to_string(peer.value) + ": " + why + "; still dialling");
                }}) {
    if (options_.security) secure();
}

Transport::~Transport() {
    stop();
    *alive_ = false;
    for (auto& [id, entry] : sessions_) entry.session->abandon();
    for (const auto& session : closing_) session->abandon();
    for (const auto& session : closed_in_cut_) session->abandon();
}

void Transport::listen(std::vector<OwnedFd> listeners) {
    acceptor_ = std::make_unique<Acceptor>(
        io_, std::move(listeners),
        Acceptor::Callbacks{[this](OwnedFd fd) { on_accepted(std::move(fd)); },
                            [this](const std::string& what) { handler_.on_fatal(what); }});
    acceptor_->start();
}

void Transport::stop() {
    dialler_.stop();
    if (handshakes_) handshakes_->stop();
    if (acceptor_) acceptor_->stop();
    if (local_acceptor_) local_acceptor_->stop();
}

bool Transport::drained() const {
    return std::all_of(closing_.begin(), closing_.end(),
                       [](const auto& session) { return session->closed(); }) &&
           std::all_of(sessions_.begin(), sessions_.end(), [](const auto& one) {
               return one.second.given_up || one.second.session->drained();
           });
}

// ---- What the node says.

void Transport::send(SessionId id, const Message& message) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || found->second.given_up) return;
    Entry& entry = found->second;
    if (entry.side == Side::accepted) {
        // The acceptor writes one message and then nothing: an unread byte at its dialler would
        // turn the FIN of a dying leader into a RST, and nobody would be released.
        BULLRING_ASSERT(entry.phase == Phase::asked);
        note_answer_sent(entry, message);
    } else {
        BULLRING_ASSERT(entry.phase == Phase::established ||
                        std::holds_alternative<protocol::Hello>(message));
    }
    scratch_.clear();
    if (const auto* refused = std::get_if<protocol::Refused>(&message))
        encode(options_.self, as_shown_to(entry, *refused), version_of(*refused, entry.version),
               scratch_);
    else if (const auto* hello = std::get_if<protocol::Hello>(&message))
        encode(options_.self, message, hello->version_highest, scratch_);
    else
        encode(options_.self, message, entry.version, scratch_);
    const std::shared_ptr<Session> session = entry.session;
    touched_.push_back(session);
    if (!session->push(outbox_kind(message), scratch_)) {
        log_limited(LogLevel::warn, "overflow", {std::to_string(entry.peer.id.value)},
                    who(entry.addresses, entry.peer.id) + " does not read; closing its session");
        end(entry, SessionEnd::overflow, "");
    }
}

void Transport::note_answer_sent(Entry& entry, const Message& message) {
    if (const auto* ack = std::get_if<protocol::HelloAck>(&message)) {
        entry.phase = Phase::established;
        entry.version = ack->version;
        learn(entry);
        entry.deadline.reset();
        entry.session->established(ack->version);
    } else {
        BULLRING_ASSERT(std::holds_alternative<protocol::Refused>(message));
        entry.phase = Phase::refused;
    }
}

void Transport::flush() {
    flushing_.swap(touched_);  // an error on one session may lead to words for another
    for (const auto& session : flushing_) session->flush();
    flushing_.clear();
}

void Transport::close(SessionId id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return;
    Entry entry = std::move(found->second);
    sessions_.erase(found);
    if (entry.side == Side::dialled) {
        give_up_keeping(entry);
        // One that was given up has been over for the dialler since then, and another may be there.
        if (!entry.given_up) tell_dialler_of_end(entry);
    } else {
        end_greeting(entry);
    }
    // Its FIN would come through, and release what is tied to it before its time.
    if (is_cut() && entry.phase != Phase::observer && entry.phase != Phase::greeting &&
        entry.phase != Phase::mourner)
        return closed_in_cut_.push_back(std::move(entry.session));
    // One that does not read its answer has no claim on a descriptor beyond the limits of §3.
    if (entry.side == Side::accepted && closing_.size() >= options_.unauthenticated_max)
        return entry.session->abandon();
    close_when_drained(std::move(entry.session));
}

void Transport::close_when_drained(std::shared_ptr<Session> session) {
    session->close();
    if (session->closed()) return;
    const auto deadline = std::make_shared<asio::steady_timer>(io_, drain_max);
    closing_.push_back(session);
    deadline->async_wait([this, session, deadline](const asio::error_code& error) {
        if (error) return;
        session->abandon();
        std::erase(closing_, session);
    });
}

bool Transport::send_to_observer(SessionId id, std::span<const std::byte> frame) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return false;
    BULLRING_ASSERT(found->second.phase == Phase::observer);
    const std::shared_ptr<Session> session = found->second.session;
    if (session->push(Outbox::Kind::plain, frame)) {
        touched_.push_back(session);
        return true;
    }
    sessions_.erase(found);
    session->abandon();
    return false;
}

// ---- New connections.

Transport::Entry& Transport::add(Side side, OwnedFd fd, std::unique_ptr<TlsConnection> connection,
                                 std::size_t outbox_bytes_max) {
    tcp::set_options(fd.get(), options_.unacknowledged_max);
    const SessionId id{++last_session_};
    // By then the sender's kernel has given up on what was not acknowledged.
    const std::chrono::nanoseconds frame_time_max(options_.unacknowledged_max.ns);
    Entry entry{.session = nullptr,
                .side = side,
                .dial = {},
                .peer = {},
                .addresses = {},
                .deadline = nullptr};
    auto [local, remote] = tcp::addresses_of(fd.get());
    entry.addresses = {std::move(local), std::move(remote)};
    entry.secured = connection.get();
    std::unique_ptr<Stream> stream;
    if (connection)
        stream = std::make_unique<TlsStream>(io_, fd.release(), std::move(connection));
    else
        stream = std::make_unique<TcpStream>(io_, fd.release());
    entry.session = std::make_shared<Session>(io_, id, std::move(stream),
                                              Session::Limits{outbox_bytes_max, frame_time_max},
                                              static_cast<SessionOwner&>(*this));
    entry.session->start_reading();
    Entry& stored = sessions_.emplace(id, std::move(entry)).first->second;
    set_deadline(stored);
    return stored;
}

// ---- What comes in.

void Transport::on_frame(Session& session, Frame frame) {
    const auto found = sessions_.find(session.id());
    if (found == sessions_.end()) return;
    Entry& entry = found->second;
    const bool is_notice = std::holds_alternative<NoticeMessage>(frame.message);
    if (is_notice && (entry.phase == Phase::greeting || entry.phase == Phase::mourner) &&
        entry.side == Side::accepted)
        return on_notice(entry, frame);
    std::string wrong;
    if (entry.side == Side::dialled) {
        wrong = on_answer(entry, std::move(frame));
    } else if (entry.phase == Phase::greeting) {
        wrong = on_first_frame(entry, std::move(frame));
    } else {
        wrong = on_later_frame(entry, std::move(frame));
    }
    if (wrong.empty()) return;  // `entry` may be gone
    end(entry, SessionEnd::protocol, wrong);
}

std::string Transport::on_first_frame(Entry& entry, Frame&& frame) {
    const SessionId id = entry.session->id();
    if (entry.notices_only) return "it is not secured";
    if (const auto* words = std::get_if<ObserverMessage>(&frame.message)) {
        if (!is_request(*words) || frame.sender.id) return "the first frame is not a request";
        end_greeting(entry);
        entry.phase = Phase::observer;
        entry.deadline.reset();
        handler_.on_request(id, *words);
        return "";
    }
    if (entry.local) return "the first frame is not a request";
    if (is_cut()) return "";  // lost on its way; its dialler gives up and dials again
    const auto* hello = std::get_if<protocol::Hello>(&std::get<Message>(frame.message));
    if (hello == nullptr) return "the first frame is not a HELLO";
    if (frame.sender != Sender{hello->id, hello->incarnation})
        return "HELLO with a different sender";
    if (std::string why = why_not_authentic(entry, hello->id); !why.empty()) return why;
    end_greeting(entry);
    entry.phase = Phase::asked;
    entry.peer = frame.sender;
    entry.commitment = hello->commitment;
    handler_.on_event(protocol::HelloReceived{id, *hello, entry.addresses});
    return "";
}

std::string Transport::on_answer(Entry& entry, Frame&& frame) {
    const SessionId id = entry.session->id();
    const auto* message = std::get_if<Message>(&frame.message);
    if (entry.phase != Phase::greeting || message == nullptr) return "an unexpected answer";
    if (const auto* ack = std::get_if<protocol::HelloAck>(message)) {
        if (ack->id != entry.peer.id) {
            return "node " + std::to_string(ack->id.value) + " answers at its address";
        }
        if (frame.sender != Sender{ack->id, ack->incarnation})
            return "HELLO_ACK with a different sender";
        entry.phase = Phase::established;
        entry.version = ack->version;
        entry.peer = frame.sender;
        entry.deadline.reset();
        entry.session->discard_input();
        if (keeps(entry)) keeper_->opened(id, entry.session->descriptor());
        dialler_.on_established(entry.peer.id);
        options_.reached(entry.peer.id, entry.session->descriptor());
        // It was under way while the credentials changed.
        if (entry.secured != nullptr && !is_up_to_date(*entry.secured))
            dialler_.replace(entry.dial);
    } else if (std::holds_alternative<protocol::Refused>(*message)) {
        if (frame.sender.id != entry.peer.id) {
            return "node " + std::to_string(frame.sender.id.value) + " answers at its address";
        }
        entry.phase = Phase::refused;
    } else {
        return "the answer to HELLO is neither HELLO_ACK nor REFUSED";
    }
    handler_.on_event(protocol::Receive{id, std::move(std::get<Message>(frame.message))});
    return "";
}

std::string Transport::on_later_frame(Entry& entry, Frame&& frame) {
    auto* message = std::get_if<Message>(&frame.message);
    if (entry.phase == Phase::refused) return "";
    if (entry.phase != Phase::established || message == nullptr || is_handshake(*message)) {
        return "an unexpected message";
    }
    if (frame.sender != entry.peer) return "a message with a different sender";
    handler_.on_event(protocol::Receive{entry.session->id(), std::move(*message)});
    return "";
}

// ---- How sessions end.

void Transport::on_end(Session& session, SessionEnd how, const std::string& why) {
    const auto found = sessions_.find(session.id());
    if (found != sessions_.end()) end(found->second, how, why);
}

/// `entry` may be gone afterwards.
void Transport::end(Entry& entry, SessionEnd how, const std::string& why) {
    if (how == SessionEnd::protocol) {
        log_limited(
            LogLevel::warn, "protocol", source_of(entry.addresses.remote),
            "dropped the connection with " + who(entry.addresses, entry.peer.id) + ": " + why);
    }
    const std::shared_ptr<Session> session = entry.session;
    const NodeId peer = entry.peer.id;
    if (entry.side == Side::accepted) {
        const Phase phase = entry.phase;
        if (phase == Phase::greeting) count_refused(how);
        end_greeting(entry);
        sessions_.erase(session->id());
        if (phase == Phase::observer) handler_.on_observer_gone(session->id());
        if (phase == Phase::asked || phase == Phase::established || phase == Phase::refused)
            handler_.on_event(protocol::SessionEnded{session->id(), how});
        // Not before an election that this may begin. It is our own close, which releases nothing.
        return session->abandon();
    }
    if (entry.given_up) return;
    // The other end has judged this one's credentials after this one's part of the handshake.
    if (entry.phase == Phase::greeting && !why.empty() && how != SessionEnd::protocol)
        tell_not_secured(peer, "", why);
    entry.given_up = true;
    entry.deadline.reset();
    session->discard_input();
    tell_dialler_of_end(entry);
    // In an error state no FIN can result from closing, and the one of a session that was truncated
    // would say nothing; and before the handshake is done nothing is tied to it. Any other dialled
    // session stays open until the node says so (§3, close rule).
    if (how == SessionEnd::reset || how == SessionEnd::truncated || how == SessionEnd::timeout) {
        give_up_keeping(entry);
        sessions_.erase(session->id());
        session->abandon();
    }
    handler_.on_event(protocol::SessionEnded{session->id(), how});
}

void Transport::on_reader_failed(const std::string& what) {
    handler_.on_fatal("reading from a connection has failed: " + what);
}

}  // namespace bullring
