// Authentication by a key of the cluster: a pre-shared key of TLS, derived from it (psk.hpp).
#include <array>

#include <fmt/format.h>
#include <openssl/err.h>

#include "src/base/text/text.hpp"
#include "src/security/authentication.hpp"
#include "src/security/psk.hpp"

namespace bullring {

namespace {

class KeyAuthentication : public Authentication {
public:
    KeyAuthentication(const Credentials& credentials, const Bearer& bearer)
        : keys_(credentials.keys), observer_keys_(credentials.observer_keys), bearer_(bearer) {}

    OwnCredential own() const override {
        OwnCredential own;
        own.shown.key = dialling_key().id;
        for (const Key& key : keys_) own.accepts.push_back(key.id);
        for (const Key& key : observer_keys_) own.observer_keys.push_back(key.id);
        return own;
    }

    std::string described() const override {
        std::string text;
        for (const Key& key : keys_) text += (text.empty() ? "" : ", ") + key.id;
        text = fmt::format("key{} {}", keys_.size() == 1 ? "" : "s", text);
        if (keys_.size() > 1) text += ", the first for dialling";
        return text;
    }

    bool configure(SSL_CTX& /*context*/) const override { return true; }

    void configure(SSL& ssl, TlsSide side) const override {
        SSL_set_psk_use_session_callback(&ssl, &on_use_key);
        SSL_set_psk_find_session_callback(&ssl, &on_find_key);
        // No certificate is trusted: who has none of the keys can't be reached. An acceptor has no
        // certificate to ask for, and OpenSSL would take the key for a session that was resumed out
        // of its context.
        if (side == TlsSide::dialler)
            SSL_set_verify(&ssl, SSL_VERIFY_PEER, &refuse_certificate);
        else
            SSL_set_verify(&ssl, SSL_VERIFY_NONE, nullptr);
    }

    bool is_done(const SSL& ssl) const override { return SSL_session_reused(&ssl) == 1; }

    std::string why_failed(int reason, const SSL& /*ssl*/, TlsSide side) const override {
        switch (reason) {
            case SSL_R_CERTIFICATE_VERIFY_FAILED:
                return fmt::format("it answers with a certificate, not with this cluster's key; {}",
                                   other_security);
            case SSL_R_NO_SHARED_CIPHER:
            case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
                return side == TlsSide::acceptor ? "it does not have this cluster's key" : "";
            default: return {};
        }
    }

    std::string why_refused() const override {
        return "it refuses this end: it has another key or another --cluster";
    }

    tl::expected<void, std::string> accepts(const TlsHandshake& before, SSL& /*ssl*/,
                                            SSL_CTX& /*context*/) const override {
        const PeerRole role =
            before.side == TlsSide::acceptor ? before.peer->role : PeerRole::member;
        if (key_of(before.credential.key, role) != nullptr) return {};
        return tl::unexpected(
            fmt::format("its key {} is no longer one of this node's", before.credential.key));
    }

private:
    /// The key that this end dials with, and the identity that it claims.
    const Key& dialling_key() const {
        return keys_.empty() ? observer_keys_.front() : keys_.front();
    }
    PeerIdentity dialling_as() const {
        if (bearer_.node) return {PeerRole::member, bearer_.node};
        return {keys_.empty() ? PeerRole::observer : PeerRole::admin, {}};
    }

    /// nullptr when there is none with this name that may be used by such a dialler.
    const Key* key_of(const std::string& key_id, PeerRole dialler) const {
        for (const Key& key : keys_)
            if (key.id == key_id) return &key;
        if (dialler != PeerRole::observer) return nullptr;
        for (const Key& key : observer_keys_)
            if (key.id == key_id) return &key;
        return nullptr;
    }

    // ---- For OpenSSL.

    /// That it is not trusted is no fault of its CA's.
    static int refuse_certificate(int /*sound*/, X509_STORE_CTX* at) {
        X509_STORE_CTX_set_error(at, X509_V_ERR_APPLICATION_VERIFICATION);
        return 0;
    }

    static OwnedSslSession session_of(const Key& key, const PskIdentity& identity, SSL& ssl) {
        auto psk = derive_psk(key, identity);
        OwnedSslSession session(SSL_SESSION_new());
        const std::array<unsigned char, 2> aes_128_gcm_sha256{0x13, 0x01};
        const SSL_CIPHER* const suite = SSL_CIPHER_find(&ssl, aes_128_gcm_sha256.data());
        const bool made =
            psk && session && suite != nullptr &&
            SSL_SESSION_set1_master_key(session.get(), psk->data(), psk->size()) == 1 &&
            SSL_SESSION_set_cipher(session.get(), suite) == 1 &&
            SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
        if (psk) OPENSSL_cleanse(psk->data(), psk->size());
        if (!made) return nullptr;
        return session;
    }

    static int on_use_key(SSL* ssl, const EVP_MD* digest, const unsigned char** id,
                          std::size_t* id_bytes, SSL_SESSION** session) {
        auto& handshake = *static_cast<TlsHandshake*>(SSL_get_app_data(ssl));
        const auto& self = static_cast<const KeyAuthentication&>(handshake.by);
        *session = nullptr;
        // After a retry OpenSSL asks for a key of a certain hash.
        if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
        const Key& key = self.dialling_key();
        const PskIdentity identity{self.bearer_.cluster, key.id, self.dialling_as(),
                                   handshake.dialled};
        OwnedSslSession made = session_of(key, identity, *ssl);
        if (!made) return 0;
        handshake.credential.key = key.id;
        handshake.named = to_text(identity);
        *id = reinterpret_cast<const unsigned char*>(handshake.named.data());
        *id_bytes = handshake.named.size();
        *session = made.release();
        // The key is bound to whom it is for, so whoever can use it is the one that was dialled.
        handshake.peer = PeerIdentity{PeerRole::member, handshake.dialled};
        return 1;
    }

    static int on_find_key(SSL* ssl, const unsigned char* id, std::size_t id_bytes,
                           SSL_SESSION** session) {
        auto& handshake = *static_cast<TlsHandshake*>(SSL_get_app_data(ssl));
        const auto& self = static_cast<const KeyAuthentication&>(handshake.by);
        const Bearer& bearer = self.bearer_;
        *session = nullptr;  // then the handshake fails: there is no certificate to go on with
        const auto identity =
            parse_psk_identity(std::string_view(reinterpret_cast<const char*>(id), id_bytes));
        if (!identity) return 1;
        if (identity->cluster != bearer.cluster) {
            handshake.problem = "it is of cluster " + in_quotes(identity->cluster);
            return 1;
        }
        // Nobody dials itself: that would be its own handshake, sent back to it.
        const bool reflected =
            !identity->acceptor && identity->dialler == PeerIdentity{PeerRole::member, bearer.node};
        if (reflected || (identity->acceptor && identity->acceptor != bearer.node)) {
            handshake.problem = reflected ? std::string("it is this node itself")
                                          : fmt::format("it has dialled node {}, which this is not",
                                                        identity->acceptor.value);
            return 1;
        }
        const Key* const key = self.key_of(identity->key_id, identity->dialler.role);
        if (key == nullptr) {
            handshake.problem =
                fmt::format("its key is {}, which is not one of this node's for {}",
                            in_quotes(identity->key_id), to_text(identity->dialler));
            return 1;
        }
        OwnedSslSession made = session_of(*key, *identity, *ssl);
        if (!made) return 0;
        handshake.credential.key = key->id;
        *session = made.release();
        handshake.peer = identity->dialler;
        return 1;
    }

    const std::vector<Key>& keys_;
    const std::vector<Key>& observer_keys_;
    const Bearer& bearer_;
};

}  // namespace

std::unique_ptr<const Authentication> key_authentication(const Credentials& credentials,
                                                         const Bearer& bearer) {
    return std::make_unique<KeyAuthentication>(credentials, bearer);
}

}  // namespace bullring
