// Owns: the context of all secured connections of a process: TLS 1.3 and nothing below, both ends
// authenticated, by keys or by certificates. Never changes: new credentials are a new context, and
// connections keep the one that they were made with. Any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <tl/expected.hpp>

#include "src/security/credentials.hpp"
#include "src/security/peer_identity.hpp"
#include "src/security/shown_credential.hpp"

namespace bullring {

class TlsContext {
public:
    /// The credentials have been checked before; the error is OpenSSL's.
    static tl::expected<std::shared_ptr<const TlsContext>, std::string> make(
        Credentials credentials, Bearer bearer);

    SecurityMode mode() const { return credentials_.mode; }
    const Bearer& bearer() const { return bearer_; }
    const Credentials& credentials() const { return credentials_; }
    /// Of one's own certificate, in seconds since 1970; 0: none.
    std::int64_t not_after() const { return credentials_.not_after; }
    std::int64_t not_before() const { return credentials_.not_before; }
    /// The part of them that others may see.
    const OwnCredential& own() const { return own_; }
    /// For people: the names of the keys, the one for dialling first; or the end of the
    /// certificate, and the lists of revocations.
    std::string described() const;
    SSL_CTX& native() const { return *context_; }

    // ---- Keys.

    /// The key that this end dials with, and the identity that it claims.
    const Key& dialling_key() const;
    PeerIdentity dialling_as() const;
    /// nullptr when there is none with this name that may be used by such a dialler.
    const Key* key_of(const std::string& key_id, PeerRole dialler) const;

    // ---- Certificates.

    /// Whether it would still be trusted now that the CA or what is revoked may have changed. It
    /// may have expired: what has been let in does not end with its certificate, so that a cluster
    /// whose certificates all have gets new ones node by node. `between` may be null. The error is
    /// for people.
    tl::expected<void, std::string> trusts(X509& certificate, STACK_OF(X509) * between) const;

private:
    TlsContext(Credentials credentials, Bearer bearer)
        : credentials_(std::move(credentials)), bearer_(std::move(bearer)) {}
    bool configure();
    bool use_certificates();
    void show_own();

    Credentials credentials_;
    Bearer bearer_;
    OwnCredential own_;
    OwnedSslContext context_;
};

/// The same for a node that may do without.
std::string described(const TlsContext* context);

}  // namespace bullring
