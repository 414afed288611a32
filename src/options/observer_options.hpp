// All that `status`, `watch` and `resign` need to know, after the command line, the environment and
// the file have been read and found sound. A peer list is never empty here.
#pragma once

#include <string>

#include "protocol/time.hpp"
#include "src/options/node_options.hpp"

namespace bullring {

struct StatusOptions {
    PeerList peers;
    std::string cluster = "bullring";
    bool json = false;
    bool wait = false;  // until a majority agrees on one live leader, for at most `timeout`
    protocol::Duration timeout = protocol::seconds(1);
    LogOptions log;
};

struct WatchOptions {
    PeerList peers;
    std::string cluster = "bullring";
    LogOptions log;
};

struct ResignOptions {
    PeerList peers;
    std::string cluster = "bullring";
    protocol::NodeId to;  // `nobody`: the leader may choose; otherwise one of `peers`
    protocol::Duration timeout = protocol::seconds(5);
    LogOptions log;
};

}  // namespace bullring
