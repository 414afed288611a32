// Owns: the credentials as they are in the files: keys, or a certificate with its key, the CA and
// the list of revocations. Reading them touches the disk, so a node's loop never does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"
#include "src/security/key_file.hpp"
#include "src/security/openssl.hpp"
#include "src/settings/security_options.hpp"

namespace bullring {

/// Whose credentials they are.
struct Bearer {
    std::string cluster;
    protocol::NodeId node;  // `nobody`: an observer or an administrator
};

struct Credentials {
    SecurityMode mode = SecurityMode::none;
    std::vector<Key> keys;           // of members and administrators; the first is for dialling
    std::vector<Key> observer_keys;  // of those who may only ask
    std::vector<OwnedCertificate> chain;  // one's own certificate first
    OwnedPrivateKey private_key;
    std::vector<OwnedCertificate> authorities;
    std::vector<OwnedCrl> revocations;
    std::int64_t not_before = 0;  // of one's own certificate, in seconds since 1970; 0: none
    std::int64_t not_after = 0;
};

struct CredentialProblem {
    const char* flag;  // by which the file was named
    std::string file;
    std::string what;  // what is wrong with it and what would be right
    /// As NotRead has it. So does what two files disagree about: a renewal replaces one by one.
    bool passes = false;
    bool operator==(const CredentialProblem&) const = default;
};
/// `"FILE" is …`.
std::string to_text(const CredentialProblem& problem);

/// All problems, not only the first. The files that the mode needs have been named. That its time
/// has not come, or is over, is none for the certificate in use, for whom its owner lets in may
/// change all the same; and none for a node that starts, which waits for that or for another one.
/// A list of revocations that is older than the one in use is a problem, and so is a file of lists
/// that is not there any more; one that has not been there yet is none.
tl::expected<Credentials, std::vector<CredentialProblem>> load_credentials(
    const SecurityOptions& options, const Bearer& bearer, const Credentials* in_use = nullptr);

/// That the file of lists is not there yet, for people; empty: it is, or none was named.
std::string missing_list(const SecurityOptions& options, const Credentials& loaded);

}  // namespace bullring
