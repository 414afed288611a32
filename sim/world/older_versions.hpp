// The fields that sessions of earlier versions do not carry, and that no sender leaves out itself:
// outside the simulator the codec does.
#pragma once

#include <cstdint>
#include <variant>

#include "protocol/values/messages.hpp"

namespace bullring::sim {

/// The fields that are relayed, or are not left out by their sender where they can't be read.
inline void leave_out_above(std::uint16_t version, protocol::Message& message) {
    if (auto* token = std::get_if<protocol::CoordinatorToken>(&message)) {
        if (version < protocol::version_with_identity) token->request.identity.reset();
        if (version < protocol::version_with_tags) token->request.members.reset();
    }
    if (auto* nack = std::get_if<protocol::Nack>(&message)) {
        if (version < protocol::version_with_named_lists) nack->identity.reset();
        if (version < protocol::version_with_tags) nack->members.reset();
    }
}

}  // namespace bullring::sim
