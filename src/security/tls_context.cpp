#include "src/security/tls_context.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>

#include "src/base/text/rfc3339.hpp"
#include "src/security/openssl_reason.hpp"
#include "src/security/revocations.hpp"
#include "src/security/trust.hpp"

namespace bullring {

namespace {

// A pre-shared key belongs to a hash: with another one the key is passed over without a word.
constexpr const char* suites = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* groups = "X25519:P-256";

}  // namespace

tl::expected<std::shared_ptr<const TlsContext>, std::string> TlsContext::make(
    Credentials credentials, Bearer bearer) {
    ERR_clear_error();
    const std::shared_ptr<TlsContext> made(
        new TlsContext(std::move(credentials), std::move(bearer)));
    made->show_own();
    if (!made->configure()) return tl::unexpected(openssl_reason());
    return made;
}

bool TlsContext::configure() {
    context_.reset(SSL_CTX_new(TLS_method()));
    SSL_CTX* const context = context_.get();
    if (context == nullptr) return false;
    // No tickets: one that the dialler has not read would turn the FIN of its end into a RST, and
    // nobody is to resume what was authenticated once. No early data, which can be replayed.
    SSL_CTX_set_options(context,
                        SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_clear_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_ALLOW_NO_DHE_KEX);
    // A read handles one record, whatever is in it, and returns.
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_early_data(context, 0);
    if (SSL_CTX_set_num_tickets(context, 0) != 1 ||
        SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(context, suites) != 1 ||
        SSL_CTX_set1_groups_list(context, groups) != 1)
        return false;
    return mode() == SecurityMode::key || use_certificates();
}

bool TlsContext::use_certificates() {
    SSL_CTX* const context = context_.get();
    SSL_CTX_set_cert_store(
        context, trust_store(credentials_.authorities, credentials_.revocations).release());
    if (SSL_CTX_use_certificate(context, credentials_.chain.front().get()) != 1) return false;
    for (std::size_t i = 1; i < credentials_.chain.size(); ++i)
        if (SSL_CTX_add1_chain_cert(context, credentials_.chain[i].get()) != 1) return false;
    return SSL_CTX_use_PrivateKey(context, credentials_.private_key.get()) == 1;
}

void TlsContext::show_own() {
    if (mode() == SecurityMode::key) {
        own_.shown.key = dialling_key().id;
        for (const Key& key : credentials_.keys) own_.accepts.push_back(key.id);
        for (const Key& key : credentials_.observer_keys) own_.observer_keys.push_back(key.id);
        return;
    }
    own_.shown = shown(*credentials_.chain.front());
    for (const OwnedCertificate& one : credentials_.authorities)
        own_.trusts.push_back(shown_ca(*one));
    for (const OwnedCrl& list : credentials_.revocations)
        own_.revocations.push_back(bullring::described(*list));
}

std::string TlsContext::described() const {
    std::string text;
    if (mode() == SecurityMode::tls) {
        text = fmt::format("the certificate lasts until {}",
                           Rfc3339(std::chrono::seconds(not_after())).date());
        for (const OwnedCrl& list : credentials_.revocations)
            text += ", revoked is what " + bullring::described(*list) + " has";
        return text;
    }
    for (const Key& key : credentials_.keys) text += (text.empty() ? "" : ", ") + key.id;
    text = fmt::format("key{} {}", credentials_.keys.size() == 1 ? "" : "s", text);
    if (credentials_.keys.size() > 1) text += ", the first for dialling";
    return text;
}

const Key& TlsContext::dialling_key() const {
    return credentials_.keys.empty() ? credentials_.observer_keys.front()
                                     : credentials_.keys.front();
}

PeerIdentity TlsContext::dialling_as() const {
    if (bearer_.node) return {PeerRole::member, bearer_.node};
    return {credentials_.keys.empty() ? PeerRole::observer : PeerRole::admin, {}};
}

const Key* TlsContext::key_of(const std::string& key_id, PeerRole dialler) const {
    for (const Key& key : credentials_.keys)
        if (key.id == key_id) return &key;
    if (dialler != PeerRole::observer) return nullptr;
    for (const Key& key : credentials_.observer_keys)
        if (key.id == key_id) return &key;
    return nullptr;
}

tl::expected<void, std::string> TlsContext::trusts(X509& certificate,
                                                   STACK_OF(X509) * between) const {
    const OwnedStoreContext context(X509_STORE_CTX_new());
    if (!context || X509_STORE_CTX_init(context.get(), SSL_CTX_get_cert_store(context_.get()),
                                        &certificate, between) != 1)
        return tl::unexpected(openssl_reason());
    X509_STORE_CTX_set_verify_cb(context.get(), &forgive_old_revocations);
    X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context.get()),
                                X509_V_FLAG_NO_CHECK_TIME);
    const int trusted = X509_verify_cert(context.get());
    ERR_clear_error();
    if (trusted != 1)
        return tl::unexpected(why_not_trusted(X509_STORE_CTX_get_error(context.get()),
                                              X509_STORE_CTX_get_current_cert(context.get())));
    return {};
}

std::string described(const TlsContext* context) {
    return context == nullptr ? "without security" : "secured: " + context->described();
}

}  // namespace bullring
