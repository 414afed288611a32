// Small text files from outside: the configuration, a peer list.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace bullring {

/// The whole file, at most 1 MiB of it. The error names the file and the system's reason.
tl::expected<std::string, std::string> read_text_file(const std::string& path);

}  // namespace bullring
