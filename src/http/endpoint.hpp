// Owns: the thread that serves HTTP. It has a loop and, in a program that is a node and nothing
// else, descriptors of its own, so that a node that is killed is not waited for because of it. All
// that it knows of the node it has from the showcase.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tl/expected.hpp>

#include "src/base/os/bell.hpp"
#include "src/base/os/local_socket.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/http/earlier_runs.hpp"
#include "src/node/report/action_trail.hpp"
#include "src/node/showcase.hpp"
#include "src/security/tls_source.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

class HttpEndpoint {
public:
    /// Binds and listens; null when the options want no HTTP. The error names the address and what
    /// is wrong. The options outlive it.
    static tl::expected<std::unique_ptr<HttpEndpoint>, std::string> open(
        const NodeOptions& options, const protocol::Start& start);
    HttpEndpoint(const NodeOptions& options, std::vector<OwnedFd> listeners,
                 std::optional<LocalListener> socket, const protocol::Start& start);
    HttpEndpoint(const HttpEndpoint&) = delete;
    HttpEndpoint& operator=(const HttpEndpoint&) = delete;
    ~HttpEndpoint();

    /// For the runtime, which ends before this.
    Showcase& showcase() { return showcase_; }
    /// Once, before the runtime runs.
    /// Others are asked over connections that are secured so; null: not at all.
    void start(std::shared_ptr<const TlsSource> security, ActionTrail trail);

private:
    const NodeOptions& options_;
    EarlierRuns earlier_runs_;
    std::vector<OwnedFd> listeners_;       // until it has started
    std::optional<LocalListener> socket_;  // the file of a Unix socket; then the thread's
    Showcase showcase_;
    Bell stop_;
    std::thread thread_;
};

}  // namespace bullring
