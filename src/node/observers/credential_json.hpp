// Credentials in the JSON of `status`: the keys `credential`, `peer_credentials` and `callers` of a
// node, as bullring-status(1) has them. A node without security has none of them.
#pragma once

#include "src/base/text/json.hpp"
#include "src/security/shown_credential.hpp"

namespace bullring {

void add_credentials(Json& node, const OwnCredential& own, const SessionCredentials& sessions);

// They are read back; empty where they are not sent. They throw what the library throws.
OwnCredential own_credential_in(const Json& node);
SessionCredentials session_credentials_in(const Json& node);

}  // namespace bullring
