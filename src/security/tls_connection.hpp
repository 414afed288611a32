// Owns: TLS on one connected socket, which it does not own: the handshake, and the bytes after it.
// OpenSSL never sees the socket: it works on memory, so that a write never raises SIGPIPE in a
// host's process, what the kernel says of the end of a connection is seen here and not guessed from
// an error queue, and a record that has been made and not sent yet is this file's own, whatever
// becomes of the bytes that it was made of. Never blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/os/io_result.hpp"
#include "src/security/authentication.hpp"
#include "src/security/tls_context.hpp"

namespace bullring {

class TlsConnection {
public:
    /// As the dialler of this member; `nobody`: of whichever member is there.
    static std::unique_ptr<TlsConnection> to(std::shared_ptr<const TlsContext> context,
                                             protocol::NodeId dialled);
    /// As the acceptor.
    static std::unique_ptr<TlsConnection> from_anybody(std::shared_ptr<const TlsContext> context);
    TlsConnection(const TlsConnection&) = delete;
    TlsConnection& operator=(const TlsConnection&) = delete;
    ~TlsConnection() = default;

    enum class Step { done, wants_read, wants_write, failed };
    /// One read, one piece of work, one write: at most about a millisecond.
    Step step(int socket);
    /// After a step that has failed, and after a read that has ended: why, for people; empty when
    /// there is nothing to say.
    const std::string& problem() const { return handshake_.problem; }

    /// Once the handshake is done.
    const PeerIdentity& peer() const { return *handshake_.peer; }
    /// By what the other end was authenticated.
    const ShownCredential& credential() const { return handshake_.credential; }
    /// The context that it was made with.
    const TlsContext& context() const { return *context_; }
    /// Whether these credentials would let the other end in now. The error is for people.
    tl::expected<void, std::string> accepted_by(const TlsContext& context) const;

    /// `eof` is said when the other end has said that it ends (close_notify), and in no other case.
    /// The end of the TCP connection alone is `truncated`: anybody on the way can cause it. At most
    /// one read from the socket and two records, so that no other end can keep the caller: after
    /// `would_block`, too, `pending` says whether there is more.
    IoResult read(int socket, std::span<std::byte> into);
    /// More may be read although the socket has nothing.
    bool pending() const;
    /// `done`: so many bytes have been taken; the kernel may still lack some of them.
    IoResult write(int socket, std::span<const std::byte> bytes);
    bool unsent() const { return sent_ != out_.size(); }
    IoResult send_rest(int socket);
    /// Says that this end will send no more, as far as the kernel has room for it.
    void say_end(int socket);

private:
    TlsConnection(std::shared_ptr<const TlsContext> context, TlsSide side,
                  protocol::NodeId dialled);
    static void on_message(int sent, int version, int type, const void* message, std::size_t bytes,
                           SSL* ssl, void* argument);

    /// From the socket to OpenSSL.
    IoResult receive(int socket);
    IoResult read_record(int socket, std::span<std::byte> into);
    void collect();  // from OpenSSL to `out_`
    Step advance(int socket);
    Step finish(int socket);
    Step fail(std::string why);
    std::string why_failed() const;
    std::string why_alert(int alert) const;
    void note_broken();

    std::shared_ptr<const TlsContext> context_;
    TlsHandshake handshake_;
    OwnedSsl ssl_;
    BIO* in_ = nullptr;           // the connection's
    BIO* from_ssl_ = nullptr;     // the connection's
    std::vector<std::byte> out_;  // records; keeps its capacity
    std::size_t sent_ = 0;
    bool begun_ = false;
    bool shaken_ = false;   // both ends have finished, as far as this one can know
    int own_messages_ = 0;  // of TLS itself, since data has come
};

}  // namespace bullring
