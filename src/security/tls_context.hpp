// Owns: the context of all secured connections of a process: TLS 1.3 and nothing below, both ends
// authenticated, by keys or by certificates. Never changes: new credentials are a new context, and
// connections keep the one that they were made with. Any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <tl/expected.hpp>

#include "src/security/authentication.hpp"
#include "src/security/credentials.hpp"
#include "src/security/shown_credential.hpp"

namespace bullring {

class TlsContext {
public:
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;
    ~TlsContext() = default;
    /// The credentials have been checked before; the error is OpenSSL's.
    static tl::expected<std::shared_ptr<const TlsContext>, std::string> make(
        Credentials credentials, Bearer bearer);

    SecurityMode mode() const { return credentials_.mode; }
    const Credentials& credentials() const { return credentials_; }
    /// Of one's own certificate, in seconds since 1970; 0: none.
    std::int64_t not_after() const { return credentials_.not_after; }
    std::int64_t not_before() const { return credentials_.not_before; }
    /// The part of them that others may see.
    const OwnCredential& own() const { return own_; }
    /// For people: the names of the keys, the one for dialling first; or the end of the
    /// certificate, and the lists of revocations.
    std::string described() const { return authentication_->described(); }
    SSL_CTX& native() const { return *context_; }
    const Authentication& authentication() const { return *authentication_; }

private:
    TlsContext(Credentials credentials, Bearer bearer);
    bool configure();

    const Credentials credentials_;
    const Bearer bearer_;
    const std::unique_ptr<const Authentication> authentication_;  // of these two
    const OwnCredential own_;
    OwnedSslContext context_;
};

/// The same for a node that may do without.
std::string described(const TlsContext* context);

}  // namespace bullring
