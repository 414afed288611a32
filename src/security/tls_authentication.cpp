// Authenticates the other end of a TLS connection by its certificate, or by the key that it has
// used.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "src/base/text/text.hpp"
#include "src/security/openssl_reason.hpp"
#include "src/security/psk.hpp"
#include "src/security/tls_connection.hpp"
#include "src/security/trust.hpp"

namespace bullring {

int TlsConnection::on_verify(int sound, X509_STORE_CTX* at) {
    sound = forgive_old_revocations(sound, at);
    auto* const ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(at, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto* const connection = static_cast<TlsConnection*>(SSL_get_app_data(ssl));
    // With a key no certificate is trusted, and that is no fault of its CA's.
    if (connection->context_->mode() == SecurityMode::key)
        X509_STORE_CTX_set_error(at, X509_V_ERR_APPLICATION_VERIFICATION);
    else if (sound == 0 && connection->problem_.empty())
        connection->problem_ =
            why_not_trusted(X509_STORE_CTX_get_error(at), X509_STORE_CTX_get_current_cert(at));
    if (sound == 0 || X509_STORE_CTX_get_error_depth(at) != 0) return sound;
    if (connection->judge_certificate(*X509_STORE_CTX_get_current_cert(at))) return 1;
    X509_STORE_CTX_set_error(at, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

bool TlsConnection::judge_certificate(const X509& certificate) {
    const TlsSide theirs = side_ == TlsSide::dialler ? TlsSide::acceptor : TlsSide::dialler;
    auto identity = identity_in(certificate, context_->bearer().cluster, theirs);
    if (!identity) {
        problem_ = std::move(identity.error());
        return false;
    }
    const bool is_dialled =
        identity->role == PeerRole::member && (!dialled_ || identity->id == dialled_);
    if (side_ == TlsSide::dialler && !is_dialled) {
        if (!dialled_) {
            problem_ = fmt::format("its certificate is for {}, not for a node", to_text(*identity));
            return false;
        }
        problem_ = fmt::format("its certificate is for {}, not for node {}", to_text(*identity),
                               dialled_.value);
        return false;
    }
    peer_ = *identity;
    credential_ = shown(certificate);
    return true;
}

OwnedSslSession TlsConnection::session_of(const Key& key, const PskIdentity& identity) {
    auto psk = derive_psk(key, identity);
    OwnedSslSession session(SSL_SESSION_new());
    const std::array<unsigned char, 2> aes_128_gcm_sha256{0x13, 0x01};
    const SSL_CIPHER* const suite = SSL_CIPHER_find(ssl_.get(), aes_128_gcm_sha256.data());
    const bool made = psk && session && suite != nullptr &&
                      SSL_SESSION_set1_master_key(session.get(), psk->data(), psk->size()) == 1 &&
                      SSL_SESSION_set_cipher(session.get(), suite) == 1 &&
                      SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
    if (psk) OPENSSL_cleanse(psk->data(), psk->size());
    if (!made) return nullptr;
    credential_.key = key.id;
    return session;
}

int TlsConnection::on_use_key(SSL* ssl, const EVP_MD* digest, const unsigned char** id,
                              std::size_t* id_bytes, SSL_SESSION** session) {
    auto& self = *static_cast<TlsConnection*>(SSL_get_app_data(ssl));
    const TlsContext& context = *self.context_;
    *session = nullptr;
    // After a retry OpenSSL asks for a key of a certain hash.
    if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
    const Key& key = context.dialling_key();
    const PskIdentity identity{context.bearer().cluster, key.id, context.dialling_as(),
                               self.dialled_};
    OwnedSslSession made = self.session_of(key, identity);
    if (!made) return 0;
    self.psk_identity_ = to_text(identity);
    *id = reinterpret_cast<const unsigned char*>(self.psk_identity_.data());
    *id_bytes = self.psk_identity_.size();
    *session = made.release();
    // The key is bound to whom it is for, so whoever can use it is the one that was dialled.
    self.peer_ = PeerIdentity{PeerRole::member, self.dialled_};
    return 1;
}

int TlsConnection::on_find_key(SSL* ssl, const unsigned char* id, std::size_t id_bytes,
                               SSL_SESSION** session) {
    auto& self = *static_cast<TlsConnection*>(SSL_get_app_data(ssl));
    const Bearer& bearer = self.context_->bearer();
    *session = nullptr;  // then the handshake fails: there is no certificate to go on with
    const auto identity =
        parse_psk_identity(std::string_view(reinterpret_cast<const char*>(id), id_bytes));
    if (!identity) return 1;
    if (identity->cluster != bearer.cluster) {
        self.problem_ = "it is of cluster " + in_quotes(identity->cluster);
        return 1;
    }
    // Nobody dials itself: that would be its own handshake, sent back to it.
    const bool reflected =
        !identity->acceptor && identity->dialler == PeerIdentity{PeerRole::member, bearer.node};
    if (reflected || (identity->acceptor && identity->acceptor != bearer.node)) {
        self.problem_ = reflected ? std::string("it is this node itself")
                                  : fmt::format("it has dialled node {}, which this is not",
                                                identity->acceptor.value);
        return 1;
    }
    const Key* const key = self.context_->key_of(identity->key_id, identity->dialler.role);
    if (key == nullptr) {
        self.problem_ = fmt::format("its key is {}, which is not one of this node's for {}",
                                    in_quotes(identity->key_id), to_text(identity->dialler));
        return 1;
    }
    OwnedSslSession made = self.session_of(*key, *identity);
    if (!made) return 0;
    *session = made.release();
    self.peer_ = identity->dialler;
    return 1;
}

tl::expected<void, std::string> TlsConnection::accepted_by(const TlsContext& context) const {
    if (context.mode() != context_->mode())
        return tl::unexpected(std::string("the security has changed"));
    if (context.mode() == SecurityMode::key) {
        const PeerRole role = side_ == TlsSide::acceptor ? peer_->role : PeerRole::member;
        if (context.key_of(credential_.key, role) != nullptr) return {};
        return tl::unexpected(
            fmt::format("its key {} is no longer one of this node's", credential_.key));
    }
    X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
    if (certificate == nullptr) return tl::unexpected(std::string("it has no certificate"));
    return context.trusts(*certificate, SSL_get_peer_cert_chain(ssl_.get()));
}

}  // namespace bullring
