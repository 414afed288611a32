// Describes certificates and revocation lists for `bullring cert show`.
#pragma once

#include <string>

#include "src/security/openssl.hpp"

namespace bullring {

/// Lines of a name and a value each.
std::string description(X509& certificate);
std::string description(X509_CRL& list);

}  // namespace bullring
