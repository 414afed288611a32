// The part of a credential that may be shown: by it people tell an old one from a new one, while
// one is replaced by the other. Never a secret.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/values/ids.hpp"
#include "src/security/openssl.hpp"

namespace bullring {

/// A CA. The names of an old one and of the one that replaces it may be the same.
struct ShownCa {
    std::string name;
    std::string key;  // the identifier of its key, in hex; empty: not stated
    bool operator==(const ShownCa&) const = default;
};

/// A key, or a certificate.
struct ShownCredential {
    std::string key;          // its ID; empty: it is no key
    std::string certificate;  // its serial number, in hex; empty: it is no certificate
    std::string subject;
    ShownCa issuer;
    std::string not_after;  // RFC 3339
    bool operator==(const ShownCredential&) const = default;
};

ShownCredential shown(const X509& certificate);
ShownCa shown_ca(const X509& authority);
/// `key 3f6a12aa`, `certificate 4A… of CN=…`; empty: it is neither.
std::string to_text(const ShownCredential& credential);

/// The credential that a node shows, and whom it lets in.
struct OwnCredential {
    ShownCredential shown;                   // of keys: the one that it dials with
    std::vector<std::string> accepts;        // the IDs of keys
    std::vector<std::string> observer_keys;  // of those who may only ask
    std::vector<ShownCa> trusts;
    std::vector<std::string> revocations;  // the lists, for people
    bool operator==(const OwnCredential&) const = default;
};

/// Shown by a member that a node is connected with.
struct PeerCredential {
    bool secured = true;       // false: it is connected without security
    ShownCredential shown;     // of keys: the one that it has dialled with
    std::string dialled_with;  // the ID of the key that the node itself has dialled it with
    bool operator==(const PeerCredential&) const = default;
};

/// Those who ask, or command, and have all shown the same.
struct CallerCredential {
    std::string who;   // "an administrator"
    std::string from;  // where the last of them is
    ShownCredential shown;
    std::size_t connections = 0;
    bool operator==(const CallerCredential&) const = default;
};

/// Of all who are connected with a node.
struct SessionCredentials {
    std::map<protocol::NodeId, PeerCredential> peers;
    std::vector<CallerCredential> callers;
    bool operator==(const SessionCredentials&) const = default;
};

}  // namespace bullring
