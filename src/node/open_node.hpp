// Owns: all that can fail before a node's loop starts: its data directory, its port, its files.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "src/node/runtime.hpp"

namespace bullring {

struct OpenedNode {
    std::unique_ptr<BackgroundWriter> writer;  // outlives the runtime
    Runtime::Parts parts;
    std::shared_ptr<TlsSource> security;  // the same as the runtime's
    ActionTrail trail;                    // for the thread that serves HTTP
};

struct OpenError {
    std::string what;            // for people
    bool wrong_setting = false;  // no start with it will do better: the user has to change it
};

/// Waits for the data directory's lock for at most `lock_wait`: the process before this one may be
/// about to end. The members and their addresses in `options` become those that hold (a state file
/// has the list).
tl::expected<OpenedNode, OpenError> open_node(NodeOptions& options, protocol::Duration lock_wait);

}  // namespace bullring
