#include "src/http/endpoint.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include <asio/posix/stream_descriptor.hpp>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/os/tcp.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/http/service.hpp"
#include "src/http/unix_socket.hpp"

namespace bullring {

namespace {

/// How nice this thread is: where processors are short, an election is not kept waiting by those
/// who look at it, nor the end of a killed node's sessions by the end of its clients'.
constexpr int behind_the_election = 10;

void end_when_it_rings(asio::posix::stream_descriptor& bell, asio::io_context& io) {
    bell.async_wait(asio::posix::descriptor_base::wait_read, [&io](const asio::error_code& error) {
        if (!error) io.stop();
    });
}

/// On a thread of its own, which nobody waits for: the disk may take any time.
HttpService::Earlier read_earlier(const EarlierRuns& runs, protocol::NodeId self) {
    if (!runs.any()) return {};
    std::promise<std::deque<History::Leadership>> promise;
    HttpService::Earlier earlier = promise.get_future();
    try {
        quiet_thread([runs, self, promise = std::move(promise)]() mutable {
            log_as(self);
            try {
                promise.set_value(runs.read());
            } catch (const std::exception&) {
                promise.set_value({});  // no memory for it
            }
        }).detach();
    } catch (const std::system_error&) {
        return {};  // no thread for it
    }
    return earlier;
}

/// To the end of the endpoint.
void serve(const NodeOptions& options, std::shared_ptr<const TlsSource> security,
           std::vector<OwnedFd> listeners, std::optional<LocalListener>& socket, Showcase& showcase,
           const ActionTrail& trail, const EarlierRuns& earlier_runs, int stop) {
    auto loop = std::make_unique<ObserverLoop>();
    loop->security = std::move(security);
    {
        HttpService service(*loop, options, std::move(listeners), socket, showcase, trail,
                            read_earlier(earlier_runs, options.config.self));
        asio::posix::stream_descriptor stopped(loop->io, stop);
        end_when_it_rings(stopped, loop->io);
        service.start();
        loop->io.run();
        stopped.release();
    }
    // A lookup that is under way can't be stopped, and is not waited for.
    if (loop->lookups != 0) static_cast<void>(loop.release());
}

}  // namespace

tl::expected<std::unique_ptr<HttpEndpoint>, std::string> HttpEndpoint::open(
    const NodeOptions& options, const protocol::Start& start) {
    const HttpOptions& http = options.http;
    if (!http.any()) return nullptr;
    if (http.socket.empty()) {
        auto listeners = tcp::listen_on(http.address);
        if (!listeners) return tl::unexpected("http: " + listeners.error());
        return std::make_unique<HttpEndpoint>(options, std::move(*listeners), std::nullopt, start);
    }
    auto socket = listen_at(http.socket);
    if (!socket) return tl::unexpected("http: " + socket.error());
    std::vector<OwnedFd> listeners;
    listeners.push_back(socket->take());
    return std::make_unique<HttpEndpoint>(options, std::move(listeners), std::move(*socket), start);
}

HttpEndpoint::HttpEndpoint(const NodeOptions& options, std::vector<OwnedFd> listeners,
                           std::optional<LocalListener> socket, const protocol::Start& start)
    : options_(options),
      earlier_runs_(options),
      listeners_(std::move(listeners)),
      socket_(std::move(socket)),
      showcase_(start.now, options.config, start.incarnation) {}

void HttpEndpoint::start(std::shared_ptr<const TlsSource> security, ActionTrail trail) {
    std::vector<int> listeners(listeners_.size());
    std::transform(listeners_.begin(), listeners_.end(), listeners.begin(),
                   [](OwnedFd& one) { return one.release(); });
    std::vector<int> kept = listeners;
    kept.insert(kept.end(), {stop_.fd(), showcase_.asked().fd(), showcase_.changed().fd()});
    std::promise<bool> left;
    thread_ = quiet_thread(
        [this, &left, kept, listeners, security = std::move(security), trail = std::move(trail)] {
            ::prctl(PR_SET_NAME, "http", 0, 0, 0);
            ::setpriority(PRIO_PROCESS, 0, behind_the_election);  // of this thread alone
            log_as(options_.config.self);
            std::vector<OwnedFd> own(listeners.begin(), listeners.end());
            left.set_value(leave_shared_descriptors(kept));
            try {
                serve(options_, security, std::move(own), socket_, showcase_, trail, earlier_runs_,
                      stop_.fd());
            } catch (const std::exception& error) {
                log(LogLevel::error, std::string("http has ended: ") + failure_text(error));
            }
        });
    if (!left.get_future().get()) return;
    // They are the thread's now, and here only copies.
    for (const int fd : listeners) ::close(fd);
}

HttpEndpoint::~HttpEndpoint() {
    if (thread_.joinable()) {
        stop_.ring();
        thread_.join();
    }
}

}  // namespace bullring
