#include "src/security/tls_context.hpp"

#include <utility>

#include <openssl/err.h>

#include "src/security/openssl_reason.hpp"

namespace bullring {

namespace {

// A pre-shared key belongs to a hash: with another one the key is passed over without a word.
constexpr const char* suites = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* groups = "X25519:P-256";

}  // namespace

TlsContext::TlsContext(Credentials credentials, Bearer bearer)
    : credentials_(std::move(credentials)),
      bearer_(std::move(bearer)),
      authentication_(mode() == SecurityMode::key
                          ? key_authentication(credentials_, bearer_)
                          : certificate_authentication(credentials_, bearer_)),
      own_(authentication_->own()) {}

tl::expected<std::shared_ptr<const TlsContext>, std::string> TlsContext::make(
    Credentials credentials, Bearer bearer) {
    ERR_clear_error();
    const std::shared_ptr<TlsContext> made(
        new TlsContext(std::move(credentials), std::move(bearer)));
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
    return authentication_->configure(*context);
}

std::string described(const TlsContext* context) {
    return context == nullptr ? "without security" : "secured: " + context->described();
}

}  // namespace bullring
