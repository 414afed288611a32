// Certificates, keys and revocation lists as PEM, and what is shown of them to people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "src/base/os/private_file.hpp"
#include "src/security/openssl.hpp"

namespace bullring {

/// "OpenSSL can't WHAT: its reason"; forgets OpenSSL's errors.
std::string openssl_failure(const std::string& what);

/// All that the text has, in its order; none when it has none, or one that is damaged.
std::vector<OwnedCertificate> certificates_in(std::string_view pem);
OwnedCrl revocation_list_in(std::string_view pem);
/// Nobody is asked for a passphrase. The error goes on where "the key " stops.
tl::expected<OwnedPrivateKey, std::string> private_key_in(std::string_view pem);

std::string to_pem(X509& certificate);
std::string to_pem(X509_CRL& list);
SecretText to_pem(EVP_PKEY& key);  // PKCS #8, without a passphrase

/// On one line each, and without what a terminal would obey.
std::string name_text(const X509_NAME& name);
std::string time_text(const ASN1_TIME& time);         // RFC 3339
std::string serial_text(const ASN1_INTEGER& serial);  // hex
/// The URIs among the alternative names.
std::vector<std::string> uris_of(X509& certificate);

}  // namespace bullring
