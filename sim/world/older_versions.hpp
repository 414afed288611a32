// The fields that sessions of earlier versions do not carry, and that no sender leaves out itself:
// outside the simulator the codec does.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "protocol/values/messages.hpp"

namespace bullring::sim {

/// Null: there is none.
inline protocol::Heartbeat* heartbeat_in(protocol::Message& message) {
    const auto of = [](std::optional<protocol::Heartbeat>& along) {
        return along ? &*along : nullptr;
    };
    if (auto* request = std::get_if<protocol::Coordinator>(&message)) return of(request->heartbeat);
    if (auto* grant = std::get_if<protocol::Grant>(&message)) return of(grant->heartbeat);
    return std::get_if<protocol::Heartbeat>(&message);
}

/// The fields that are relayed, or are not left out by their sender where they can't be read.
inline void leave_out_above(std::uint16_t version, protocol::Message& message) {
    if (auto* token = std::get_if<protocol::CoordinatorToken>(&message)) {
        if (version < protocol::version_with_identity) token->request.identity.reset();
        if (version < protocol::version_with_tags) token->request.members.reset();
    }
    if (version < protocol::version_with_work)
        if (protocol::Heartbeat* const heartbeat = heartbeat_in(message))
            heartbeat->work = protocol::Work::own;
    if (auto* nack = std::get_if<protocol::Nack>(&message)) {
        if (version < protocol::version_with_named_lists) nack->identity.reset();
        if (version < protocol::version_with_tags) nack->members.reset();
    }
}

}  // namespace bullring::sim
