// Owns: what is answered to whom when: it looks at the node by the showcase, asks it what needs its
// loop, and asks the other members what they know. One thread: that of the loop.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "src/base/os/local_socket.hpp"
#include "src/http/event_streams.hpp"
#include "src/http/history.hpp"
#include "src/http/http_server.hpp"
#include "src/http/metrics.hpp"
#include "src/http/node_state.hpp"
#include "src/http/resign_request.hpp"
#include "src/http/routes.hpp"
#include "src/node/report/action_trail.hpp"
#include "src/node/showcase.hpp"
#include "src/observe/observer_client.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

class HttpService {
public:
    using Earlier = std::future<std::deque<History::Leadership>>;

    /// The arguments that are referred to outlive it. `earlier`: the leaders in earlier runs of the
    /// node; it is not waited for.
    /// `socket`: the file of the listener, if it is a Unix socket; made again when it is gone.
    HttpService(ObserverLoop& loop, const NodeOptions& options, std::vector<OwnedFd> listeners,
                std::optional<LocalListener>& socket, Showcase& showcase, ActionTrail trail,
                Earlier earlier);

    void start();

private:
    using Clock = std::chrono::steady_clock;
    /// Somebody who waits for the loop of the node.
    struct Waiting {
        std::uint64_t question;
        Clock::time_point until;
        std::function<void(bool answered)> then;
    };
    /// Somebody who has asked this node to hand over.
    struct Resigning {
        std::uint64_t request;
        Clock::time_point until;
        HttpReplyPtr reply;
        AskedAction action;
    };

    /// All paths that there are.
    HttpRoutes routes();
    void answer_root(const HttpRequest& request, const HttpReplyPtr& reply);
    void answer_alive(const HttpRequest&, const HttpReplyPtr& reply);
    void answer_cluster(const HttpRequest&, const HttpReplyPtr& reply);
    void answer_status(const HttpRequest&, const HttpReplyPtr& reply);
    void answer_metrics(const HttpRequest& request, const HttpReplyPtr& reply);
    void answer_events(const HttpRequest&, const HttpReplyPtr& reply);
    void answer_history(const HttpRequest&, const HttpReplyPtr& reply);
    void answer_failovers(const HttpRequest&, const HttpReplyPtr& reply);
    void answer_failover(const HttpRequest&, const HttpReplyPtr& reply);
    void answer_resign(const HttpRequest& request, const HttpReplyPtr& reply);

    AtTheMoment now();
    const Connected& connected(bool loop_answered);
    std::string present_event();
    void ask_node(Clock::duration patience, std::function<void(bool answered)> then);
    void take_earlier();
    void wait_for_change();
    void make_socket_again();
    void on_change();
    void tell_streams();
    void end_resigning();
    void look_at_those_who_wait();
    void tick();

    ObserverLoop& loop_;
    const NodeOptions& options_;
    std::optional<LocalListener>& socket_;
    Showcase& showcase_;
    HttpAccess access_;
    ActionTrail trail_;
    NodeState state_;
    History history_;
    Earlier earlier_;                 // until it is in the history
    std::uint64_t changes_seen_ = 0;  // those in the history
    std::uint64_t changes_sent_ = 0;  // to the streams
    bool streams_wait_ = false;       // for what has changed
    EventStreams streams_;
    std::vector<Waiting> waiting_;
    std::uint64_t last_question_ = 0;
    Clock::time_point asked_at_;
    std::optional<Resigning> resigning_;
    std::vector<HttpReplyPtr> ask_for_cluster_;  // answered by the round that is under way
    asio::posix::stream_descriptor changed_;
    asio::steady_timer streams_timer_;
    asio::steady_timer patience_timer_;
    asio::steady_timer tick_timer_;
    HttpRoutes routes_;
    HttpServer server_;
};

}  // namespace bullring
