// What `bullring cert show` prints of certificates and revocation lists.
#pragma once

#include <string>

#include "src/security/openssl.hpp"

namespace bullring {

/// Lines of a name and a value each.
std::string description(X509& certificate);
std::string description(X509_CRL& list);

}  // namespace bullring
