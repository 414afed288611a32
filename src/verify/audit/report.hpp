// A verdict as people and programs read it.
#pragma once

#include <string>

#include "src/verify/audit/verdict.hpp"

namespace bullring::audit {

std::string to_text(const History& history, const Verdict& verdict);
/// One line.
std::string to_json(const History& history, const Verdict& verdict);

/// For stderr: what contradicts what, on one line.
std::string summary(const History& history, const Contradiction& contradiction);

}  // namespace bullring::audit
