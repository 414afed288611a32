// Owns: the identity of the other end of a secured connection: a member with its ID, an
// administrator, or an observer of this cluster. Reads it out of a certificate, where it stands as
// a URI.
#pragma once

#include <string>
#include <string_view>

#include <openssl/x509.h>
#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"

namespace bullring {

enum class PeerRole { member, admin, observer };

struct PeerIdentity {
    PeerRole role = PeerRole::observer;
    protocol::NodeId id;  // of a member
    bool operator==(const PeerIdentity&) const = default;
};

/// "node 3", "an administrator", "an observer".
std::string to_text(const PeerIdentity& identity);

/// How the names of all members, observers and CAs of clusters begin.
inline constexpr std::string_view identity_scheme = "bullring://";

/// bullring://CLUSTER/node/ID, …/admin, …/observer.
std::string identity_uri(std::string_view cluster, const PeerIdentity& identity);

enum class TlsSide { dialler, acceptor };

/// Of a certificate that a trusted CA has signed: whom it is for, by its one URI of this cluster;
/// the common name counts for nothing. `peer_is`: what the certificate's owner does on this
/// connection, which the certificate has to allow. The error is for people.
tl::expected<PeerIdentity, std::string> identity_in(const X509& certificate,
                                                    std::string_view cluster, TlsSide peer_is);

}  // namespace bullring
