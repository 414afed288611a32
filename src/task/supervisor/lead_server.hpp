// Owns: the node's side of `bullring lead`: commands of other processes on this machine that run
// under this node's leadership, beside what the node's own host does. The leadership ends only when
// all of them have ended.
//
// Such a process dies neither with the node nor with its sessions, so no end of a session may
// release the lease while one runs: the node first asks for untied grants, and a command is started
// only when a majority has given them.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "src/settings/node_options.hpp"
#include "src/task/host_around.hpp"
#include "src/task/supervisor/lead_records.hpp"
#include "src/task/watched_listener.hpp"
#include "src/watch/lease_page.hpp"
#include "src/watch/loop_pulse.hpp"

namespace bullring {

class LeadServer final : public HostAround {
public:
    /// `make_inner`: the node's own host; none: NoTask.
    LeadServer(asio::io_context& io, NodeLink& node, const NodeOptions& options, LoopPulse& pulse,
               std::vector<int> directory_locks, const MakeHost& make_inner);
    ~LeadServer() override;

    void start(protocol::Epoch epoch) override;
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason) override;
    void publish(const protocol::Publish& publish) override;
    void file_removed(const std::string& name) override;
    void directory_misplaced(const std::string& why) override;

private:
    struct Client {
        explicit Client(asio::io_context& io) : socket(io) {}
        asio::posix::stream_descriptor socket;
        bool asked = false;
        bool runs = false;  // it has been ordered to go
    };
    using Clients = std::list<Client>;

    // The inner host's calls; its end is kept back until the clients have ended.
    void tell(const protocol::Event& event) override;

    tl::expected<void, std::string> open();
    void admit(OwnedFd socket);
    void read_from(Clients::iterator client);
    void on_request(Client& client);
    void drop(Clients::iterator client);
    void let_go_if_held();
    bool send_go(Client& client);
    LeadAnswer make_answer(LeadAnswer::Kind kind) const;
    void stop_clients();
    void prolong_while_stopping();
    void tie();
    void tell_if_all_ended();
    bool any_runs() const;
    void show_others();

    asio::io_context& io_;
    const NodeOptions& options_;
    LoopPulse& pulse_;
    std::vector<int> directory_locks_;
    std::optional<SharedLeasePage> page_;
    WatchedListener listener_;
    asio::steady_timer prolong_timer_;
    Clients clients_;
    protocol::Publish published_{};  // the last
    protocol::Epoch leads_;          // from start() to the end of all
    bool stopping_ = false;
    bool misplaced_ = false;  // the data directory
    bool inner_ties_ = true;  // it needs no grants that hold without sessions
    std::optional<protocol::TaskEnded> inner_ended_;
};

}  // namespace bullring
