// How both ends of a TLS connection show who they are: one class a mode of security, made of the
// credentials. All that differs between the modes once their files have been read is one of its
// answers; contexts and connections never ask which mode it is.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "src/security/credentials.hpp"
#include "src/security/peer_identity.hpp"
#include "src/security/shown_credential.hpp"

namespace bullring {

class Authentication;

/// Shared by a connection and its authentication, which finds it in the SSL's application data.
struct TlsHandshake {
    const Authentication& by;
    TlsSide side;                        // of this end
    protocol::NodeId dialled;            // `nobody`: whichever member is there
    std::optional<PeerIdentity> peer{};  // set by the authentication alone
    ShownCredential credential{};        // by which it was authenticated
    std::string named{};                 // the identity of a key, by this end
    std::string problem{};               // for people; empty: nothing to say
};

inline constexpr const char* other_security = "all members need the same --security";

class Authentication {
public:
    Authentication() = default;
    Authentication(const Authentication&) = delete;
    Authentication& operator=(const Authentication&) = delete;
    virtual ~Authentication() = default;

    /// The part of the credentials that others may see.
    virtual OwnCredential own() const = 0;
    virtual std::string described() const = 0;

    /// False: OpenSSL's queue of errors says why.
    virtual bool configure(SSL_CTX& context) const = 0;
    /// Of a connection that begins, whose application data is a TlsHandshake.
    virtual void configure(SSL& ssl, TlsSide side) const = 0;
    /// That the handshake has come to its end in the way of this mode.
    virtual bool is_done(const SSL& ssl) const = 0;

    /// Of OpenSSL's reason; empty: it says nothing of this mode.
    virtual std::string why_failed(int reason, const SSL& ssl, TlsSide side) const = 0;
    /// Of the alert handshake_failure.
    virtual std::string why_refused() const = 0;
    /// Whether the other end, which an older one of this mode has authenticated, would be let in by
    /// this one of `context`. The error is for people.
    virtual tl::expected<void, std::string> accepts(const TlsHandshake& before, SSL& ssl,
                                                    SSL_CTX& context) const = 0;
};

// Both outlive it.
std::unique_ptr<const Authentication> key_authentication(const Credentials& credentials,
                                                         const Bearer& bearer);
std::unique_ptr<const Authentication> certificate_authentication(const Credentials& credentials,
                                                                 const Bearer& bearer);

}  // namespace bullring
