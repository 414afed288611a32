// Owns: how a run of a node proves that it has ended: by the secret that it has bound itself to in
// its HELLOs, and that nobody shows before (PROTOCOL R4). A hash shows nothing of its input, so
// whoever reads the HELLOs cannot say it in the node's place.
#pragma once

#include "protocol/values/ids.hpp"
#include "src/wire/notice_messages.hpp"

namespace bullring {

/// From the system's generator. Throws std::system_error.
DeathSecret draw_death_secret();

/// SHA-256 of the secret's bytes.
protocol::Commitment commitment_to(const DeathSecret& secret);

}  // namespace bullring
