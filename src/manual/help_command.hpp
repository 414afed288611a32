// `bullring help [TOPIC]`: the pages of the manual, by man(1) where a terminal reads them and man
// pages are there, as plain text otherwise.
#pragma once

#include <string>
#include <vector>

namespace bullring {

inline constexpr const char* help_word = "help";

/// `arguments` are those after the word `help`. Returns the exit status.
int run_help(const std::vector<std::string>& arguments);

/// Likewise `bullring completion bash|zsh`: the shell's completion, on stdout.
int run_completion(const std::vector<std::string>& arguments);

}  // namespace bullring
