// The settings that all observers of a cluster have in common.
#pragma once

#include <string>

#include "src/settings/node_options.hpp"

namespace bullring {

/// The options that `status`, `watch`, `resign` and `drill` share. The peer list is never empty.
struct ObserverOptions {
    PeerList peers;
    std::string cluster = "bullring";
    SecurityOptions security;
    LogOptions log;
};

}  // namespace bullring
