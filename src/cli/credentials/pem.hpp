// Writes certificates, keys and revocation lists as PEM.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "src/base/os/private_file.hpp"
#include "src/security/openssl.hpp"

namespace bullring {

std::string to_pem(X509& certificate);
std::string to_pem(X509_CRL& list);
SecretText to_pem(EVP_PKEY& key);  // PKCS #8, without a passphrase

/// The URIs among the alternative names.
std::vector<std::string> uris_of(X509& certificate);

}  // namespace bullring
