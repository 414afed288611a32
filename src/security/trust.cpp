#include "src/security/trust.hpp"

#include <algorithm>
#include <string>

#include <openssl/err.h>

#include "src/security/openssl_reason.hpp"
#include "src/security/revocations.hpp"

namespace bullring {

OwnedStore trust_store(const std::vector<OwnedCertificate>& authorities,
                       const std::vector<OwnedCrl>& revocations) {
    OwnedStore store(X509_STORE_new());
    for (const OwnedCertificate& authority : authorities)
        X509_STORE_add_cert(store.get(), authority.get());
    // OpenSSL prefers the one whose time has not run out, which may be an older one.
    for (const OwnedCrl& revoked : revocations)
        if (std::none_of(revocations.begin(), revocations.end(), [&](const auto& other) {
                return is_older(*revoked, *other, authorities);
            }))
            X509_STORE_add_crl(store.get(), revoked.get());
    if (!revocations.empty()) X509_STORE_set_flags(store.get(), X509_V_FLAG_CRL_CHECK);
    return store;
}

int forgive_old_revocations(int sound, X509_STORE_CTX* at) {
    const int error = X509_STORE_CTX_get_error(at);
    if (error != X509_V_ERR_CRL_HAS_EXPIRED && error != X509_V_ERR_CRL_NOT_YET_VALID) return sound;
    X509_STORE_CTX_set_error(at, X509_V_OK);
    return 1;
}

tl::expected<void, std::string> trusts(SSL_CTX& context, X509& certificate,
                                       STACK_OF(X509) * between) {
    const OwnedStoreContext look(X509_STORE_CTX_new());
    if (!look || X509_STORE_CTX_init(look.get(), SSL_CTX_get_cert_store(&context), &certificate,
                                     between) != 1)
        return tl::unexpected(openssl_reason());
    X509_STORE_CTX_set_verify_cb(look.get(), &forgive_old_revocations);
    X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(look.get()), X509_V_FLAG_NO_CHECK_TIME);
    const int trusted = X509_verify_cert(look.get());
    ERR_clear_error();
    if (trusted != 1)
        return tl::unexpected(why_not_trusted(X509_STORE_CTX_get_error(look.get()),
                                              X509_STORE_CTX_get_current_cert(look.get())));
    return {};
}

}  // namespace bullring
