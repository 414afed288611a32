// Owns: the way from the library's Options, and from the names and values of the C interface, to
// what a node needs. Both become the same request, with the same checks, as the flags of a node.
#pragma once

#include <bullring/options.hpp>

#include "src/settings/node_options.hpp"
#include "src/settings/raw_values.hpp"

namespace bullring {

struct LibraryOptions {
    NodeOptions node;
    protocol::Duration stall_after{0};  // 0: progress is not watched
    protocol::Duration restart_delay = protocol::seconds(1);
};

/// A line each.
std::string joined(const Problems& problems);

/// They count only if no problem was added.
LibraryOptions library_options(const Options& options, Problems& problems);
/// The names are those of the flags; what no flag is called is a problem.
LibraryOptions library_options(const char* const* names_and_values, Problems& problems);

}  // namespace bullring
