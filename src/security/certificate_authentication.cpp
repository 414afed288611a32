// Authentication by a certificate that a CA of the cluster has signed.
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>

#include "src/base/text/rfc3339.hpp"
#include "src/security/authentication.hpp"
#include "src/security/openssl_reason.hpp"
#include "src/security/revocations.hpp"
#include "src/security/trust.hpp"

namespace bullring {

namespace {

class CertificateAuthentication : public Authentication {
public:
    CertificateAuthentication(const Credentials& credentials, const Bearer& bearer)
        : credentials_(credentials), bearer_(bearer) {}

    OwnCredential own() const override {
        OwnCredential own;
        own.shown = shown(*credentials_.chain.front());
        for (const OwnedCertificate& one : credentials_.authorities)
            own.trusts.push_back(shown_ca(*one));
        for (const OwnedCrl& list : credentials_.revocations)
            own.revocations.push_back(bullring::described(*list));
        return own;
    }

    std::string described() const override {
        std::string text =
            fmt::format("the certificate lasts until {}",
                        Rfc3339(std::chrono::seconds(credentials_.not_after)).date());
        for (const OwnedCrl& list : credentials_.revocations)
            text += ", revoked is what " + bullring::described(*list) + " has";
        return text;
    }

    bool configure(SSL_CTX& context) const override {
        const auto& chain = credentials_.chain;
        SSL_CTX_set_cert_store(
            &context, trust_store(credentials_.authorities, credentials_.revocations).release());
        if (SSL_CTX_use_certificate(&context, chain.front().get()) != 1) return false;
        for (std::size_t i = 1; i < chain.size(); ++i)
            if (SSL_CTX_add1_chain_cert(&context, chain[i].get()) != 1) return false;
        return SSL_CTX_use_PrivateKey(&context, credentials_.private_key.get()) == 1;
    }

    void configure(SSL& ssl, TlsSide side) const override {
        const int of_acceptor = side == TlsSide::acceptor ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
        SSL_set_verify(&ssl, SSL_VERIFY_PEER | of_acceptor, &on_verify);
    }

    bool is_done(const SSL& ssl) const override { return SSL_session_reused(&ssl) == 0; }

    std::string why_failed(int reason, const SSL& ssl, TlsSide /*side*/) const override {
        if (reason != SSL_R_CERTIFICATE_VERIFY_FAILED) return {};
        return why_not_trusted(SSL_get_verify_result(&ssl));
    }

    std::string why_refused() const override {
        return fmt::format("it refuses this end's certificate: the log there says why; {}",
                           other_security);
    }

    tl::expected<void, std::string> accepts(const TlsHandshake& /*before*/, SSL& ssl,
                                            SSL_CTX& context) const override {
        X509* const certificate = SSL_get0_peer_certificate(&ssl);
        if (certificate == nullptr) return tl::unexpected(std::string("it has no certificate"));
        return trusts(context, *certificate, SSL_get_peer_cert_chain(&ssl));
    }

private:
    static int on_verify(int sound, X509_STORE_CTX* at) {
        sound = forgive_old_revocations(sound, at);
        auto* const ssl =
            static_cast<SSL*>(X509_STORE_CTX_get_ex_data(at, SSL_get_ex_data_X509_STORE_CTX_idx()));
        auto& handshake = *static_cast<TlsHandshake*>(SSL_get_app_data(ssl));
        const auto& self = static_cast<const CertificateAuthentication&>(handshake.by);
        if (sound == 0 && handshake.problem.empty())
            handshake.problem =
                why_not_trusted(X509_STORE_CTX_get_error(at), X509_STORE_CTX_get_current_cert(at));
        if (sound == 0 || X509_STORE_CTX_get_error_depth(at) != 0) return sound;
        if (self.judge(*X509_STORE_CTX_get_current_cert(at), handshake)) return 1;
        X509_STORE_CTX_set_error(at, X509_V_ERR_APPLICATION_VERIFICATION);
        return 0;
    }

    bool judge(const X509& certificate, TlsHandshake& handshake) const {
        const bool dialler = handshake.side == TlsSide::dialler;
        auto identity = identity_in(certificate, bearer_.cluster,
                                    dialler ? TlsSide::acceptor : TlsSide::dialler);
        if (!identity) {
            handshake.problem = std::move(identity.error());
            return false;
        }
        const protocol::NodeId dialled = handshake.dialled;
        const bool is_dialled =
            identity->role == PeerRole::member && (!dialled || identity->id == dialled);
        if (dialler && !is_dialled) {
            handshake.problem =
                fmt::format("its certificate is for {}, not for {}", to_text(*identity),
                            dialled ? fmt::format("node {}", dialled.value) : "a node");
            return false;
        }
        handshake.peer = *identity;
        handshake.credential = shown(certificate);
        return true;
    }

    const Credentials& credentials_;
    const Bearer& bearer_;
};

}  // namespace

std::unique_ptr<const Authentication> certificate_authentication(const Credentials& credentials,
                                                                 const Bearer& bearer) {
    return std::make_unique<CertificateAuthentication>(credentials, bearer);
}

}  // namespace bullring
