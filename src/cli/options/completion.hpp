// Owns: the completion of bash and of zsh for the command line, made of the table of flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bullring {

inline constexpr const char* completion_word = "completion";

/// A script for "bash" or "zsh", empty for any other shell. `topics` are those of `bullring help`.
std::string completion_script(std::string_view shell, const std::vector<std::string>& topics);

}  // namespace bullring
