// Owns: the command by which a user's service says whether this node is fit to lead, and the thread
// that runs it again and again. While it fails the node does not stand, and hands over if it leads.
#pragma once

#include <string>
#include <thread>

#include <tl/expected.hpp>

#include "src/base/os/bell.hpp"
#include "src/settings/node_options.hpp"
#include "src/task/task_host.hpp"

namespace bullring {

class HealthCheck {
public:
    /// The first check begins at once; until it has failed often enough the node counts as healthy.
    HealthCheck(HealthOptions options, protocol::NodeId self, const std::string& cluster,
                NodeLink& node);
    HealthCheck(const HealthCheck&) = delete;
    HealthCheck& operator=(const HealthCheck&) = delete;
    /// A command that runs is killed.
    ~HealthCheck();

private:
    void run();
    /// Empty when it has succeeded, else what was wrong.
    std::string check();
    /// False when this object ends meanwhile.
    bool pause();
    bool stopping() const;

    HealthOptions options_;
    std::string node_id_;
    std::string cluster_name_;
    NodeLink& node_;
    Bell stop_;  // rings once this object ends
    std::thread thread_;
};

}  // namespace bullring
