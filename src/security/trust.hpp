// Whom a certificate is trusted for: authorities that have been named, and nobody whom they have
// revoked.
#pragma once

#include <vector>

#include "src/security/openssl.hpp"

namespace bullring {

/// A store that trusts these authorities alone, and nothing that they have revoked by the newest
/// list of each.
OwnedStore trust_store(const std::vector<OwnedCertificate>& authorities,
                       const std::vector<OwnedCrl>& revocations);

/// For OpenSSL: a list of what is revoked counts, however old it is, and before its time. That none
/// has come for a while, or a clock that is behind, must not end a cluster; what it revokes stays
/// revoked.
int forgive_old_revocations(int sound, X509_STORE_CTX* at);

}  // namespace bullring
