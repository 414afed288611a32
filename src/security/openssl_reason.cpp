#include "src/security/openssl_reason.hpp"

#include <array>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pemerr.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>

namespace bullring {

namespace {

struct Words {
    int library;
    int reason;
    const char* words;
};
constexpr const char* key_too_small =
    "its key is too short for this machine's OpenSSL; expected RSA with 2048 bits or more, or an "
    "elliptic curve such as P-256";
constexpr const char* digest_too_weak =
    "it is signed with too weak a digest for this machine's OpenSSL; expected SHA-256 or better";
constexpr std::array known{
    Words{ERR_LIB_SSL, SSL_R_EE_KEY_TOO_SMALL, key_too_small},
    Words{ERR_LIB_SSL, SSL_R_CA_KEY_TOO_SMALL, key_too_small},
    Words{ERR_LIB_SSL, SSL_R_CA_MD_TOO_WEAK, digest_too_weak},
    Words{ERR_LIB_SSL, SSL_R_UNKNOWN_CERTIFICATE_TYPE,
          "its kind of key does not serve TLS; expected ECDSA, Ed25519 or RSA"},
    Words{ERR_LIB_PEM, PEM_R_BAD_END_LINE, "its last line is not the one that it needs"},
    Words{ERR_LIB_PEM, PEM_R_BAD_BASE64_DECODE, "it is no base64"},
};

}  // namespace

std::string openssl_reason() {
    const unsigned long error = ERR_get_error();
    ERR_clear_error();
    for (const Words& one : known)
        if (ERR_GET_LIB(error) == one.library && ERR_GET_REASON(error) == one.reason)
            return one.words;
    if (ERR_GET_LIB(error) == ERR_LIB_ASN1) return "it is not whole; expected it as it was made";
    const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
    return fmt::format("OpenSSL says: {}", reason == nullptr ? "no reason given" : reason);
}

std::string why_not_trusted(long error, const X509* at) {
    auto* const x509 = const_cast<X509*>(at);  // for functions that only read it
    switch (error) {
        case X509_V_ERR_CERT_HAS_EXPIRED: return "its certificate has expired";
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return "its certificate is not valid yet; is the clock right on both machines?";
        case X509_V_ERR_CERT_REVOKED: return "its certificate has been revoked";
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_CERT_UNTRUSTED:
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return "its certificate is not from this cluster's CA";
        case X509_V_ERR_INVALID_PURPOSE:
            if (x509 != nullptr && (X509_get_key_usage(x509) & KU_DIGITAL_SIGNATURE) == 0)
                return "its certificate has a key usage without digitalSignature";
            return "its certificate lacks the extended key usage for this";
        case X509_V_ERR_INVALID_CA:
        case X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            return "a CA above its certificate may not sign any: its basic constraints have to "
                   "say CA, and its key usage keyCertSign";
        case X509_V_ERR_PATH_LENGTH_EXCEEDED:
            return "a CA above its certificate allows fewer CAs between them (path length)";
        case X509_V_ERR_KEYUSAGE_NO_CRL_SIGN:
            return "the CA that signed its certificate may sign no revocation lists: its key usage "
                   "lacks cRLSign";
        case X509_V_ERR_CRL_SIGNATURE_FAILURE:
            return "the revocation list is not signed by the CA that it names";
        case X509_V_ERR_EE_KEY_TOO_SMALL:
        case X509_V_ERR_CA_KEY_TOO_SMALL:
            return fmt::format("in its certificate or one above it: {}", key_too_small);
        case X509_V_ERR_CA_MD_TOO_WEAK:
            return fmt::format("its certificate or one above it: {}", digest_too_weak);
        case X509_V_ERR_UNABLE_TO_GET_CRL:
            return "the revocation list has nothing of the CA that signed its certificate";
        default:
            return fmt::format("its certificate is refused: {}",
                               X509_verify_cert_error_string(error));
    }
}

}  // namespace bullring
