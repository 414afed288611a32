#include "src/security/tls_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include "src/base/os/socket_error.hpp"
#include "src/security/openssl_reason.hpp"

namespace bullring {

namespace {

/// A flight of a handshake, or dozens of heartbeats.
constexpr std::size_t piece_bytes = 4096;
/// A record.
constexpr std::size_t record_bytes = 16 * 1024;

/// Of TLS's own messages after the handshake, without a byte of data between them. A member sends
/// none: OpenSSL changes keys when it is asked to, and nobody asks.
constexpr int own_messages_max = 32;

int reason_of_error() { return ERR_GET_REASON(ERR_peek_error()); }

}  // namespace

TlsConnection::TlsConnection(std::shared_ptr<const TlsContext> context, TlsSide side,
                             protocol::NodeId dialled)
    : context_(std::move(context)),
      handshake_{.by = context_->authentication(), .side = side, .dialled = dialled},
      ssl_(SSL_new(&context_->native())) {
    in_ = BIO_new(BIO_s_mem());
    from_ssl_ = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in_, -1);
    SSL_set_bio(ssl_.get(), in_, from_ssl_);
    SSL_set_app_data(ssl_.get(), &handshake_);
    SSL_set_msg_callback(ssl_.get(), &on_message);
    SSL_set_msg_callback_arg(ssl_.get(), this);
    context_->authentication().configure(*ssl_, side);
    if (side == TlsSide::dialler)
        SSL_set_connect_state(ssl_.get());
    else
        SSL_set_accept_state(ssl_.get());
}

std::unique_ptr<TlsConnection> TlsConnection::to(std::shared_ptr<const TlsContext> context,
                                                 protocol::NodeId dialled) {
    return std::unique_ptr<TlsConnection>(
        new TlsConnection(std::move(context), TlsSide::dialler, dialled));
}

std::unique_ptr<TlsConnection> TlsConnection::from_anybody(
    std::shared_ptr<const TlsContext> context) {
    return std::unique_ptr<TlsConnection>(
        new TlsConnection(std::move(context), TlsSide::acceptor, {}));
}

// ---- The socket.

IoResult TlsConnection::receive(int socket) {
    std::array<std::byte, piece_bytes> piece{};
    const ssize_t count = ::recv(socket, piece.data(), piece.size(), 0);
    if (count < 0) return socket_failure(socket, errno);
    if (count == 0) return {IoStatus::truncated, 0};
    if (BIO_write(in_, piece.data(), static_cast<int>(count)) != count)
        return {IoStatus::reset, 0};  // no memory
    return {IoStatus::done, static_cast<std::size_t>(count)};
}

void TlsConnection::collect() {
    const std::size_t waiting = BIO_ctrl_pending(from_ssl_);
    if (waiting == 0) return;
    if (!unsent()) {
        out_.clear();
        sent_ = 0;
    }
    const std::size_t held = out_.size();
    out_.resize(held + waiting);
    BIO_read(from_ssl_, out_.data() + held, static_cast<int>(waiting));
}

IoResult TlsConnection::send_rest(int socket) {
    while (unsent()) {
        const ssize_t count =
            ::send(socket, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
        if (count < 0) return socket_failure(socket, errno);
        sent_ += static_cast<std::size_t>(count);
    }
    return {IoStatus::done, 0};
}

// ---- The handshake.

TlsConnection::Step TlsConnection::step(int socket) {
    if (shaken_) return finish(socket);
    if (unsent()) {
        const IoResult sent = send_rest(socket);
        if (sent.status == IoStatus::would_block) return Step::wants_write;
        if (sent.status != IoStatus::done) return fail("the connection broke in the handshake");
    }
    if (begun_ || handshake_.side == TlsSide::acceptor) {
        const IoResult got = receive(socket);
        if (got.status == IoStatus::would_block) return Step::wants_read;
        if (got.status != IoStatus::done) {
            // A member that is being stopped or that is no longer there ends like that, too.
            return fail(
                handshake_.side == TlsSide::dialler
                    ? fmt::format("it ended the connection in the handshake: it may have no room; "
                                  "and {}; the log there says more",
                                  other_security)
                    : std::string());
        }
    }
    begun_ = true;
    return advance(socket);
}

TlsConnection::Step TlsConnection::advance(int socket) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    const int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), result);
    collect();
    if (error == SSL_ERROR_NONE) {
        shaken_ = true;
        // With a certificate the callback has judged it; with a key it has been found. There is no
        // third way through a handshake, and no harm in looking.
        if (!handshake_.peer || !handshake_.by.is_done(*ssl_))
            return fail("it has not been authenticated");
        return finish(socket);
    }
    const std::string why = error == SSL_ERROR_WANT_READ ? std::string() : why_failed();
    ERR_clear_error();
    const IoResult sent = send_rest(socket);  // an alert, too
    if (error != SSL_ERROR_WANT_READ) return fail(why);
    if (sent.status == IoStatus::would_block) return Step::wants_write;
    if (sent.status != IoStatus::done) return fail("the connection broke in the handshake");
    return Step::wants_read;
}

TlsConnection::Step TlsConnection::finish(int socket) {
    const IoResult sent = send_rest(socket);
    if (sent.status == IoStatus::done) return Step::done;
    if (sent.status == IoStatus::would_block) return Step::wants_write;
    return fail("the connection broke in the handshake");
}

TlsConnection::Step TlsConnection::fail(std::string why) {
    if (handshake_.problem.empty()) handshake_.problem = std::move(why);
    return Step::failed;
}

std::string TlsConnection::why_failed() const {
    if (!handshake_.problem.empty()) return handshake_.problem;
    const int reason = reason_of_error();
    if (reason > SSL_AD_REASON_OFFSET) return why_alert(reason - SSL_AD_REASON_OFFSET);
    if (std::string why = handshake_.by.why_failed(reason, *ssl_, handshake_.side); !why.empty())
        return why;
    switch (reason) {
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return fmt::format("it has no certificate; {}", other_security);
        case SSL_R_BINDER_DOES_NOT_VERIFY: return "its key has the name of ours and is another one";
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_HTTP_REQUEST:
        case SSL_R_RECORD_LENGTH_MISMATCH:
            return fmt::format("it does not speak TLS 1.3; {}", other_security);
        default: break;
    }
    return fmt::format("the TLS handshake failed: {}", openssl_reason());
}

std::string TlsConnection::why_alert(int alert) const {
    switch (alert) {
        case SSL_AD_BAD_CERTIFICATE:
            return "it refuses this end's certificate: the log there says why";
        case SSL_AD_UNKNOWN_CA:
            return "it refuses this end's certificate: its CA is not one there, or has no "
                   "revocation list there";
        case SSL_AD_CERTIFICATE_EXPIRED:
            return "it refuses this end's certificate: it has expired, by the clock there";
        case SSL_AD_CERTIFICATE_REVOKED:
            return "it refuses this end's certificate: it has been revoked";
        case SSL_AD_UNSUPPORTED_CERTIFICATE:
            return "it refuses this end's certificate: its key usage or extended key usage does "
                   "not allow this; the log there says which";
        case SSL_AD_CERTIFICATE_REQUIRED:
        case SSL_AD_MISSING_EXTENSION:
            return fmt::format("it wants a certificate; {}", other_security);
        case SSL_AD_PROTOCOL_VERSION:
            return fmt::format("it does not speak TLS 1.3; {}", other_security);
        case SSL_AD_HANDSHAKE_FAILURE: return handshake_.by.why_refused();
        case SSL_AD_DECRYPT_ERROR:
        case SSL_AD_ILLEGAL_PARAMETER: return "it refuses this end's key: it has another one";
        default: break;
    }
    return fmt::format("it refuses this end: {}", SSL_alert_desc_string_long(alert));
}

tl::expected<void, std::string> TlsConnection::accepted_by(const TlsContext& context) const {
    if (context.mode() != context_->mode())
        return tl::unexpected(std::string("the security has changed"));
    return context.authentication().accepts(handshake_, *ssl_, context.native());
}

// ---- After the handshake.

void TlsConnection::on_message(int sent, int /*version*/, int type, const void* /*message*/,
                               std::size_t /*bytes*/, SSL* /*ssl*/, void* argument) {
    auto& self = *static_cast<TlsConnection*>(argument);
    if (self.shaken_ && sent == 0 && type == SSL3_RT_HANDSHAKE) ++self.own_messages_;
}

IoResult TlsConnection::read(int socket, std::span<std::byte> into) {
    if (into.empty()) return {IoStatus::would_block, 0};
    const IoResult held = read_record(socket, into);
    if (held.status != IoStatus::would_block || BIO_ctrl_pending(in_) > 0) return held;
    const IoResult got = receive(socket);
    return got.status == IoStatus::done ? read_record(socket, into) : got;
}

IoResult TlsConnection::read_record(int socket, std::span<std::byte> into) {
    ERR_clear_error();
    std::size_t count = 0;
    if (SSL_read_ex(ssl_.get(), into.data(), into.size(), &count) == 1) {
        own_messages_ = 0;
        return {IoStatus::done, count};
    }
    switch (SSL_get_error(ssl_.get(), 0)) {
        case SSL_ERROR_WANT_READ: break;
        case SSL_ERROR_ZERO_RETURN: return {IoStatus::eof, 0};
        default: note_broken(); return {IoStatus::reset, 0};
    }
    if (own_messages_ > own_messages_max) {
        handshake_.problem = "it sends messages of TLS itself and no data";
        return {IoStatus::reset, 0};
    }
    // An answer of TLS itself (to a change of keys). If the kernel has no room, it goes out with
    // the next write.
    collect();
    if (unsent()) send_rest(socket);
    return {IoStatus::would_block, 0};
}

bool TlsConnection::pending() const {
    return SSL_pending(ssl_.get()) > 0 || BIO_ctrl_pending(in_) > 0;
}

IoResult TlsConnection::write(int socket, std::span<const std::byte> bytes) {
    if (unsent()) {
        const IoResult rest = send_rest(socket);
        if (rest.status != IoStatus::done) return rest;
    }
    ERR_clear_error();
    std::size_t count = 0;
    const std::size_t most = std::min(bytes.size(), record_bytes);
    if (SSL_write_ex(ssl_.get(), bytes.data(), most, &count) != 1) {
        note_broken();
        return {IoStatus::reset, 0};
    }
    collect();
    const IoResult sent = send_rest(socket);
    if (sent.status == IoStatus::would_block) return {IoStatus::done, count};
    if (sent.status != IoStatus::done) return sent;
    return {IoStatus::done, count};
}

void TlsConnection::say_end(int socket) {
    if (!shaken_ || unsent()) return;
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
    collect();
    send_rest(socket);
}

void TlsConnection::note_broken() {
    // A dialler is through with its handshake before the other end has judged it; the judgement
    // comes as an alert.
    const int reason = reason_of_error();
    if (handshake_.problem.empty() && reason > SSL_AD_REASON_OFFSET)
        handshake_.problem = why_alert(reason - SSL_AD_REASON_OFFSET);
    ERR_clear_error();
}

}  // namespace bullring
