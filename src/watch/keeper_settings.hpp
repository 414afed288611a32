// Owns: the settings that a node gives its keeper.
#pragma once

#include "src/settings/node_options.hpp"
#include "src/watch/keeper.hpp"

namespace bullring {

/// `setting`: as users know it, "--hang-after".
KeeperSettings keeper_settings(const NodeOptions& options, const char* setting);

}  // namespace bullring
