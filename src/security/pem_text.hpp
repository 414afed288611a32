// Reads certificates, keys and lists of revocations out of PEM (RFC 7468): all that a text has, or
// nothing. What is damaged or cut off is refused by its line, because what is passed over in
// silence is missed only when it is needed. Lines between the blocks are remarks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "src/security/openssl.hpp"

namespace bullring {

/// Blocks of another kind than is asked for: some people keep a certificate and its key in one
/// file, and name it for both.
enum class OtherBlocks { refuse, skip };

// At least one. The errors go on where "the file FILE " stops.
tl::expected<std::vector<OwnedCertificate>, std::string> certificates_in(
    std::string_view pem, OtherBlocks others = OtherBlocks::refuse);
tl::expected<std::vector<OwnedCrl>, std::string> revocation_lists_in(
    std::string_view pem, OtherBlocks others = OtherBlocks::refuse);
/// The only one. Nobody is asked for a passphrase.
tl::expected<OwnedPrivateKey, std::string> private_key_in(std::string_view pem);

}  // namespace bullring
