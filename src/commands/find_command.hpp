// What is looked at before a command of the user's is ever needed.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace bullring {

/// As execvp() will look for it. The error says what is wrong with it.
tl::expected<void, std::string> find_command(const std::string& program);

/// Opens /dev/null in the place of stdin, stdout and stderr as far as they are closed: what is
/// opened later must not take their numbers, and be written to by a command.
void open_missing_streams();

}  // namespace bullring
