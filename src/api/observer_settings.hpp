// Owns: the way from the words with which an Observer or an Administrator is made to the settings
// of a command that asks.
#pragma once

#include <string>

#include <bullring/observer.hpp>

#include "src/observe/observer_options.hpp"

namespace bullring {

/// Checked as `subcommand` checks its flags. It logs nothing on stderr. Throws ConfigError.
ObserverOptions observer_settings(const char* subcommand, const std::string& peers,
                                  const std::string& cluster, const ObserverSecurity& security);

}  // namespace bullring
