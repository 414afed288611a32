// All connections of a node, by SessionId, and what may be done with them (PROTOCOL §3). Owns the
// handshake's order ("the acceptor writes one message and then nothing", "nothing but HELLO before
// the HELLO_ACK") and who closes what when; the meaning of FIN is defined in stream.hpp. Must never
// close a dialled connection on its own unless it is in an error state or its handshake has not
// been done.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "protocol/values/dialling.hpp"
#include "protocol/values/events.hpp"
#include "protocol/values/membership.hpp"
#include "src/base/log/log_limit.hpp"
#include "src/node/metrics/counts.hpp"
#include "src/node/net/acceptor.hpp"
#include "src/node/net/caller.hpp"
#include "src/node/net/dial.hpp"
#include "src/node/net/dialler.hpp"
#include "src/node/net/handshakes.hpp"
#include "src/node/net/notices.hpp"
#include "src/node/net/session.hpp"
#include "src/node/net/tls_stream.hpp"
#include "src/task/session_keeper.hpp"
#include "src/wire/codec.hpp"

namespace bullring {

class TransportHandler {
public:
    TransportHandler() = default;
    TransportHandler(const TransportHandler&) = delete;
    TransportHandler& operator=(const TransportHandler&) = delete;
    virtual ~TransportHandler() = default;

    /// Dialled, HelloReceived, Receive, SessionEnded or Died.
    virtual void on_event(const protocol::Event& event) = 0;
    virtual void on_request(protocol::SessionId observer, const ObserverMessage& what) = 0;
    virtual void on_observer_gone(protocol::SessionId observer) = 0;
    /// The node can't go on.
    virtual void on_fatal(const std::string& what) = 0;
};

/// Of the sessions that a node has dialled, see closed_in_order().
constexpr std::size_t closing_orders = 2 * protocol::members_max;

struct TransportOptions {
    Sender self;
    PeerList peers;  // this node's own entry is ignored
    protocol::Membership members;
    DialTiming dial;
    protocol::Duration handshake_max = protocol::handshake_max;
    protocol::Duration unacknowledged_max = protocol::seconds(1);
    std::size_t outbox_bytes_max = 256 * 1024;
    std::size_t observer_outbox_bytes_max = 64 * 1024;
    std::size_t unauthenticated_max = 64;
    std::uint64_t seed = 0;
    /// Connections that never became sessions, by what was wrong; null: they are not counted.
    NamedCounts* refused = nullptr;
    /// Whether an accepted connection has one of the last descriptors, which are the node's own
    /// with so many members.
    std::function<bool(int, std::size_t)> is_reserved = [](int, std::size_t) { return false; };
    /// The security of all connections; null: they have none.
    std::shared_ptr<const TlsContext> security;
    /// Members may be there that have no security yet.
    bool migrate = false;
    /// A connection that this node began with a member could not be secured, and why.
    std::function<void(protocol::NodeId, const std::string&)> not_secured =
        [](protocol::NodeId, const std::string&) {};
    /// A member has taken this node's session: the socket that it was reached by.
    std::function<void(protocol::NodeId, int)> reached = [](protocol::NodeId, int) {};
};

class Transport final : private SessionOwner {
public:
    Transport(asio::io_context& io, TransportOptions options, TransportHandler& handler);
    ~Transport() override;

    /// Before start_dialling().
    void keep_sessions(SessionKeeper* keeper) { keeper_ = keeper; }
    void listen(std::vector<OwnedFd> listeners);
    /// At a local socket whose file says who may connect: whoever may is an administrator.
    void listen_locally(OwnedFd listener);
    void start_dialling();
    void dial_now(protocol::NodeId peer, const std::string& calls_from);
    /// From now on these are the members. Sessions of others are left to the node.
    void follow(PeerList peers, const protocol::Membership& members);

    /// Queues; nothing leaves before flush(). What is meant for a session that is over is dropped.
    void send(protocol::SessionId session, const protocol::Message& message);
    /// One write for each session that has something to say.
    void flush();
    /// Queued messages are sent first.
    void close(protocol::SessionId session);

    /// Queues for an observer. False when its queue was full: it is gone then, without a call of
    /// on_observer_gone.
    bool send_to_observer(protocol::SessionId observer, std::span<const std::byte> frame);

    /// Whose host an address ("host:port") is on. A member's: one that a member's entry means, or
    /// this node's own.
    LogSource source_of(const std::string& address) const;
    LogSource source_of(protocol::SessionId session) const;

    /// As far as its connection shows.
    Caller caller_of(protocol::SessionId observer) const;
    /// Whether this observer has come by the local socket.
    bool is_local(protocol::SessionId observer) const;
    /// Whether this observer may have the node hand over, or let faults happen: anybody where
    /// nobody is authenticated, else an administrator.
    bool may_command(protocol::SessionId observer) const;
    /// The member whose certificate this observer has; `nobody`: it has another one, or none.
    protocol::NodeId certified_member(protocol::SessionId observer) const;

    /// Shown by those who are connected, but for `asker`. Of each member the connection
    /// counts that it has dialled itself: it replaces that one when it has a new credential.
    SessionCredentials credentials(protocol::SessionId asker) const;

    /// New credentials: sessions of members that this node has dialled are replaced while they
    /// last. Whom they do not let in: a member's sessions end soon, unless they are replaced, and
    /// all others now.
    void renew(std::shared_ptr<const TlsContext> security);
    /// Null: connections are not secured.
    const TlsContext* security() const { return options_.security.get(); }

    /// Of the sessions that this node has dialled, as the kernel has measured them.
    std::vector<std::pair<protocol::NodeId, protocol::Duration>> round_trips() const;

    /// For so long nothing is exchanged with the other members, as if the cable were cut; see
    /// transport_cut.cpp.
    void cut_off(protocol::Duration time);

    /// No more connections are made or taken.
    void stop();
    bool drained() const;

private:
    enum class Side { dialled, accepted };
    enum class Phase {
        greeting,     // dialled: no answer to HELLO yet; accepted: no HELLO and no OBSERVE yet
        asked,        // accepted: the node has the HELLO and has not answered
        established,  // HELLO_ACK has been sent, or read
        refused,      // REFUSED has been sent, or read
        observer,
        mourner,  // accepted: waits for the end of a run; see transport_notices.cpp
    };
    /// For one run of a node.
    static constexpr std::size_t mourners_max = 2;

    struct Entry {
        std::shared_ptr<Session> session;
        Side side;
        Phase phase = Phase::greeting;
        bool given_up = false;  // dialled: its end has been reported; open until close()
        Dial dial;              // `nobody`: accepted
        Sender peer;
        std::uint16_t version = protocol::version_lowest;  // in which is written
        bool notices_only = false;                         // plain, where connections are secured
        bool local = false;                                // accepted at the local socket
        protocol::Commitment commitment{};                 // accepted: what the HELLO has said
        const TlsConnection* secured = nullptr;  // the session's; null: nobody is authenticated
        protocol::Addresses addresses;
        std::unique_ptr<asio::steady_timer> deadline;
    };

    void on_frame(Session& session, Frame frame) override;
    void on_end(Session& session, protocol::SessionEnd how, const std::string& why) override;
    void on_reader_failed(const std::string& what) override;

    void on_connected(Dial dial, OwnedFd fd);
    std::size_t closing_order(protocol::NodeId peer) const;
    void on_accepted(OwnedFd fd);
    void on_accepted_locally(OwnedFd fd);
    void secure();
    void on_secured(Dial dial, OwnedFd fd, std::unique_ptr<TlsConnection> connection);
    void on_handshake_failed(const Handshakes::Failure& failure);
    Entry& accept_session(OwnedFd fd, std::unique_ptr<TlsConnection> connection);
    void dialled_session(Dial dial, OwnedFd fd, std::unique_ptr<TlsConnection> connection);
    Entry& add(Side side, OwnedFd fd, std::unique_ptr<TlsConnection> connection,
               std::size_t outbox_bytes_max);
    void tell_dialler_of_end(const Entry& entry);
    bool is_up_to_date(const TlsConnection& connection) const;
    void renew_some();
    void renew(Entry& entry);
    void end_unless_replaced(Entry& entry);
    std::string why_not_authentic(const Entry& entry, protocol::NodeId said) const;
    bool keeps(const Entry& entry) const;
    /// Once, after the longest time that a handshake may take, if the entry is still there.
    void at_deadline(Entry& entry, std::function<void(Entry&)> then);
    void set_deadline(Entry& entry);
    void end_greeting(Entry& entry);
    void make_room_for_one_more();
    void give_up_a_stranger();
    void count_refused(protocol::SessionEnd how);
    std::string on_first_frame(Entry& entry, Frame&& frame);
    void on_notice(Entry& entry, const Frame& frame);
    void make_room_for_mourner(const Sender& sender);
    void learn(const Entry& entry);
    std::string on_answer(Entry& entry, Frame&& frame);
    std::string on_later_frame(Entry& entry, Frame&& frame);
    void note_answer_sent(Entry& entry, const protocol::Message& message);
    protocol::Message as_shown_to(const Entry& entry, const protocol::Refused& refused) const;
    void give_up_keeping(const Entry& entry);
    void tell_not_secured(protocol::NodeId peer, const std::string& where, const std::string& why);
    void end(Entry& entry, protocol::SessionEnd how, const std::string& why);
    void close_when_drained(std::shared_ptr<Session> session);
    bool is_cut() const { return cut_end_.has_value(); }
    void end_cut();

    asio::io_context& io_;
    TransportOptions options_;
    TransportHandler& handler_;
    SessionKeeper* keeper_ = nullptr;
    Dialler dialler_;
    std::optional<Handshakes> handshakes_;  // with security
    Notices notices_;
    std::set<protocol::NodeId> plain_next_;  // those that may have no security yet
    std::deque<protocol::SessionId> renewing_;
    std::unique_ptr<Acceptor> acceptor_;
    std::unique_ptr<Acceptor> local_acceptor_;
    std::vector<std::unique_ptr<Acceptor>> old_local_acceptors_;
    std::map<protocol::SessionId, Entry> sessions_;
    std::deque<protocol::SessionId> greeting_;  // accepted, in `greeting`, oldest first
    std::set<std::string> own_hosts_;           // that connections came in at
    std::vector<std::shared_ptr<Session>> touched_;
    std::vector<std::shared_ptr<Session>> flushing_;
    std::vector<std::shared_ptr<Session>> closing_;  // sends what is left, then closes
    std::optional<asio::steady_timer> cut_end_;      // while the other members are cut off
    std::vector<std::shared_ptr<Session>> closed_in_cut_;
    std::vector<std::byte> scratch_;
    std::uint64_t last_session_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what has been posted
};

}  // namespace bullring
