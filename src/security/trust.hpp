// Whom a certificate is trusted for: authorities that have been named, and nobody whom they have
// revoked.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

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

/// Whether the context would still trust it now that the CA or what is revoked may have changed. It
/// may have expired: what has been let in does not end with its certificate, so that a cluster
/// whose certificates all have gets new ones node by node. `between` may be null. The error is for
/// people.
tl::expected<void, std::string> trusts(SSL_CTX& context, X509& certificate,
                                       STACK_OF(X509) * between);

}  // namespace bullring
