// The one that asks a node for something, as far as the connection shows. For people and auditors.
#pragma once

#include <string>

namespace bullring {

struct Caller {
    std::string by;          // "an administrator", "node 3", "user 1000"; empty: nobody can tell
    std::string credential;  // that it has shown, such as "key 3f6a…"; empty: none
    std::string from;        // an address, or "this machine"
    bool member = true;      // from a member's host, or this one
};

/// By the socket alone. Of a Unix socket it is the user whose process is at the other end.
Caller caller_at(int socket);

/// `node 3, by certificate 4A… of CN=…, at 10.0.0.3:41232`.
std::string to_text(const Caller& caller);

}  // namespace bullring
