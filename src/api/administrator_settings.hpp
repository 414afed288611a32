// Owns: what an Administrator knows of the cluster, and of the node that it goes through.
#pragma once

#include <string>

#include "src/observe/observer_options.hpp"

namespace bullring {

struct AdministratorSettings {
    ObserverOptions cluster;
    protocol::NodeId self;  // `nobody`: it is none of the members
    std::string data_dir;   // of that node, if it has one
};

}  // namespace bullring
