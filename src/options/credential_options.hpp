// What `bullring key` and `bullring cert` are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/ids.hpp"

namespace bullring {

class Reader;
class Report;

// Both in the order of action_table().
enum class KeyAction { make, list, add, use, remove };

struct KeyOptions {
    KeyAction action = KeyAction::make;
    std::string id;    // of `use` and `remove`
    std::string file;  // of all but `make`
    std::string out;   // of `make`; empty: stdout
};

enum class CertAction { ca, node, admin, observer, show, revoke, crl };

struct CertOptions {
    CertAction action = CertAction::ca;
    std::vector<protocol::NodeId> ids;   // of `node`: at least one
    std::vector<std::string> files;      // of `show` and `revoke`: at least one
    std::optional<std::string> cluster;  // none: that of the CA
    std::string ca = ".";
    std::string out = ".";
    std::optional<std::int64_t> days;
    bool overwrite = false;
};

/// `operands` begin with the action. What is wrong is reported; then the result does not count.
KeyOptions key_options(const std::vector<std::string>& operands, Reader& read, Report& report);
CertOptions cert_options(const std::vector<std::string>& operands, Reader& read, Report& report);

}  // namespace bullring
