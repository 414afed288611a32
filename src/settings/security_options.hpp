// How the connections of a member or an observer are secured, as users say it: the mode, and the
// files of that mode. What is in the files is not known here.
#pragma once

#include <string>

namespace bullring {

enum class SecurityMode { none, key, tls };
const char* name(SecurityMode mode);

struct SecurityOptions {
    SecurityMode mode = SecurityMode::none;
    std::string key_file;           // mode key: whoever has one is a member or an administrator
    std::string observer_key_file;  // mode key: whoever has one may ask; may be empty
    std::string certificate_file;   // mode tls: this end's certificate, then those between it and
                                    // the CA
    std::string private_key_file;   // mode tls: of that certificate
    std::string ca_file;            // mode tls: who signs for this cluster; nobody else does
    std::string crl_file;           // mode tls: what has been revoked; may be empty
    bool migrate = false;           // also members that have no security yet
    bool operator==(const SecurityOptions&) const = default;
};

}  // namespace bullring
