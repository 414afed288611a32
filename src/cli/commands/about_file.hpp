// Reports of `bullring key` and `bullring cert` on a file, and on what they could not do.
#pragma once

#include <string>

#include "src/base/text/text.hpp"

namespace bullring {

/// The exit status of a command that was right and could not be done.
inline constexpr int not_done = 1;

/// "the file "key" cannot be written: …".
inline std::string about_file(const std::string& path, const std::string& what) {
    return "the file " + in_quotes(path) + " " + what;
}

}  // namespace bullring
