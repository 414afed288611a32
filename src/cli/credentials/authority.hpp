// A small CA: makes its own certificate, those that it signs, and the list of those that it has
// revoked. Keys are ECDSA on P-256, which every TLS library and hardware token knows. Knows no
// files. The errors are for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "src/base/os/private_file.hpp"
#include "src/security/openssl.hpp"

namespace bullring {

/// The contents of two files, as PEM.
struct CertificateAndKey {
    std::string certificate;
    SecretText key;
    std::string serial;     // of the certificate, in hex
    std::string not_after;  // for people
};

/// Whom a certificate is for.
struct Subject {
    std::string uri;         // bullring://CLUSTER/node/ID, …/admin, …/observer
    std::string name;        // for people; counts for nothing
    bool is_server = false;  // nodes accept connections, too
};

using Days = std::optional<std::int64_t>;

class Authority {
public:
    static tl::expected<CertificateAndKey, std::string> make(const std::string& cluster, Days days);
    /// Of what `make` has made, or of another CA with a certificate and a key in PEM.
    static tl::expected<Authority, std::string> open(std::string_view certificate,
                                                     std::string_view key);

    /// That it was made for; empty for a CA of other making.
    const std::string& cluster() const { return cluster_; }
    /// By its subject, for people.
    std::string name() const;

    /// When the CA's own certificate ends, for people; empty where `days` would end before that.
    std::string ends_before(std::int64_t days) const;
    /// A new key and a certificate for it. Without `days`: a year, or to the end of the CA, beyond
    /// which it never lasts.
    tl::expected<CertificateAndKey, std::string> issue(const std::string& cluster,
                                                       const Subject& subject, Days days) const;

    bool has_signed(X509& certificate) const;
    /// A list, as PEM, of what `earlier` has (a list in PEM, or empty) and these. Without `days` it
    /// is valid as long as the CA.
    tl::expected<std::string, std::string> revocation_list(std::string_view earlier,
                                                           const std::vector<X509*>& revoked,
                                                           Days days) const;

private:
    Authority(OwnedCertificate certificate, OwnedPrivateKey key, std::string cluster)
        : certificate_(std::move(certificate)),
          key_(std::move(key)),
          cluster_(std::move(cluster)) {}

    OwnedCertificate certificate_;
    OwnedPrivateKey key_;
    std::string cluster_;
};

}  // namespace bullring
