// Owns: the way from the library's Options, and from the names and values of the C interface, to
// what a node needs: the very reader of the flags.
#pragma once

#include <bullring/options.hpp>

#include "src/options/node_options.hpp"
#include "src/options/options_sources.hpp"

namespace bullring {

struct LibraryOptions {
    NodeOptions node;
    protocol::Duration stall_after{0};  // 0: progress is not watched
    protocol::Duration restart_delay = protocol::seconds(1);
};

/// A line each.
std::string joined(const Problems& problems);

/// What is the default is left out.
RawValues raw_values(const Options& options);
/// The names are those of the flags; what no flag is called is a problem.
RawValues raw_values(const char* const* names_and_values, Problems& problems);
LibraryOptions library_options(const RawValues& values, Problems& problems);

}  // namespace bullring
