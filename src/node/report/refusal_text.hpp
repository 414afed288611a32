// Owns: the words for a handshake that was refused: what differs, and what to do about it here,
// which depends on how this node was started. Pure. One place for all: a Difference without a
// remedy does not compile.
#pragma once

#include <string>

#include "protocol/values/actions.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

/// How a node was started, as far as remedies depend on it.
struct WayToStart {
    bool joins = false;       // by --join
    bool says_where = false;  // and --join-as
    bool had_state = false;   // on a directory with a list: again, from a backup, after `refound`
    std::uint16_t wire_highest = protocol::version_highest;  // --wire
};

WayToStart way_to_start(const NodeOptions& options, bool had_state);

/// The difference, as node `self` sees it.
std::string why_refused(const protocol::HandshakeRefused& refusal, protocol::NodeId self);

/// The thing to do; empty: nothing, for it passes.
std::string remedy(const protocol::HandshakeRefused& refusal, protocol::NodeId self,
                   const WayToStart& way);

/// Both: "algorithm is 'ring' here and 'bully' there; give this node the --algorithm of the
/// others".
std::string refusal_text(const protocol::HandshakeRefused& refusal, protocol::NodeId self,
                         const WayToStart& way);

}  // namespace bullring
