// Which of two lists of revocations is the newer one. A CA numbers its lists in a rising order (RFC
// 5280, 5.2.3), and what an older one has in the place of a newer one is what it does not have.
#pragma once

#include <string>
#include <vector>

#include "src/security/openssl.hpp"

namespace bullring {

/// As its CA has numbered it; empty: it has not.
std::string number_of(const X509_CRL& list);
/// `list 7 of "/CN=…" of 2026-11-29T19:52:03Z`.
std::string described(const X509_CRL& list);

/// By the numbers, and where one has none by the times at which they were made. Lists of different
/// CAs, also of two with one name, and lists of different kinds of certificates, are neither.
bool is_older(const X509_CRL& one, const X509_CRL& other,
              const std::vector<OwnedCertificate>& authorities);

/// The revocations that `lists` would take back: an older list than `in_use` has, or none, of a CA
/// that is trusted.
/// Goes on where "the file FILE " stops; empty: nothing.
std::string setback(const std::vector<OwnedCrl>& lists, const std::vector<OwnedCrl>& in_use,
                    const std::vector<OwnedCertificate>& authorities);

}  // namespace bullring
