// The words of OpenSSL's errors, for people: what is wrong and, where that can be said, what would
// be right. All other files of the project get them here.
#pragma once

#include <string>

#include <openssl/x509.h>

namespace bullring {

/// Of the first error that this thread has noted. Forgets all of them.
std::string openssl_reason();

/// Why a certificate is not trusted; `error` is one of X509_V_ERR_…. `at`: the certificate that it
/// was found at, the other end's or one between it and its CA; null where that is not known.
std::string why_not_trusted(long error, const X509* at = nullptr);

}  // namespace bullring
