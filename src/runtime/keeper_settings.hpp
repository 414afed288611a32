// Owns: what a node tells its keeper.
#pragma once

#include "src/options/node_options.hpp"
#include "src/runtime/keeper.hpp"

namespace bullring {

/// `setting`: as users know it, "--hang-after".
KeeperSettings keeper_settings(const NodeOptions& options, const char* setting);

}  // namespace bullring
