// How the subcommands read and write files: whole, with errors that name the file.
#pragma once

#include <string>

namespace bullring::sim {

/// The whole file; `-` is stdin. Throws CLI::FileError.
std::string read_file(const std::string& path);

/// `-` is stdout. Throws CLI::FileError.
void write_file(const std::string& path, const std::string& text);

/// Before a long run: that its result will have a place to go. An empty path is none. Throws
/// CLI::FileError when `write_file` could not write there, and for `-`, where the run is printed.
void check_writable(const std::string& path);

}  // namespace bullring::sim
