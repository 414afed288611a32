// Owns: what is done to the data directory of a node that is left alone for ever (PROTOCOL C10.1).
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "src/node/storage/state_file.hpp"

namespace bullring {

struct Refounding {
    protocol::Durable before;
    protocol::Durable after;  // the same: the node is the only member already
};

/// Makes the node of this directory the only member of its cluster, with epochs above `clock`, if
/// it is not. Without `write` nothing is changed. The error is for people. Blocks.
tl::expected<Refounding, std::string> refound(const std::string& data_dir,
                                              const StateIdentity& identity, protocol::Epoch clock,
                                              bool write);

}  // namespace bullring
