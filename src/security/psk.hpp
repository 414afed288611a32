// Pre-shared keys of TLS, derived from a cluster's keys: one for each key, dialler and acceptor, so
// that no handshake can be reflected or sent on to another member (RFC 9257). Its identity says
// which: CLUSTER/KEY-ID/DIALLER→ACCEPTOR.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/security/key_file.hpp"
#include "src/security/peer_identity.hpp"

namespace bullring {

struct PskIdentity {
    std::string cluster;
    std::string key_id;
    PeerIdentity dialler;
    protocol::NodeId acceptor;  // `nobody`: whichever member is there
    bool operator==(const PskIdentity&) const = default;
};

std::string to_text(const PskIdentity& identity);
/// nullopt for what to_text() never makes.
std::optional<PskIdentity> parse_psk_identity(std::string_view text);

using Psk = std::array<std::uint8_t, 32>;
/// By HKDF-SHA-256 (RFC 5869); nullopt when OpenSSL fails.
std::optional<Psk> derive_psk(const Key& key, const PskIdentity& identity);

}  // namespace bullring
