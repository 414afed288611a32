#include "src/observe/observer_link.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <sys/socket.h>

#include "src/base/os/local_socket.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/os/tcp.hpp"
#include "src/settings/data_files.hpp"
#include "src/wire/codec.hpp"

namespace bullring {
namespace {

using Address = asio::ip::tcp::endpoint;
using asio::posix::descriptor_base;

constexpr protocol::Duration unacknowledged_max = protocol::seconds(5);
const char* const stopped = "stopped";

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace

tl::expected<void, std::string> ObserverLoop::secure(const SecurityOptions& options,
                                                     const Bearer& bearer,
                                                     CredentialWatch::Tell tell) {
    auto source = open_tls(options, bearer);
    if (!source) return tl::unexpected(std::move(source.error()));
    security = *source;
    if (security)
        credentials_.emplace(options, bearer, std::move(*source), CredentialWatch::Callbacks{},
                             &load_tls_anew, std::move(tell));
    return {};
}

// Outlives the link: the resolver's thread can't be stopped.
struct ObserverLink::Lookup {
    explicit Lookup(asio::io_context& io) : resolver(io), done(io) {}
    asio::ip::tcp::resolver resolver;
    asio::steady_timer done;
    std::vector<Address> addresses;
    std::string problem = "its name was not resolved in time";
};

// The deadline of the wait that is under way. Shared with the timer's handler, which may be queued
// when the wait is already over: then the round has changed and it does nothing.
struct ObserverLink::Alarm {
    explicit Alarm(asio::io_context& io) : timer(io) {}
    asio::steady_timer timer;
    asio::posix::stream_descriptor* waiting = nullptr;
    std::uint64_t round = 0;
    bool rang = false;
};

ObserverLink::ObserverLink(ObserverLoop& loop)
    : loop_(loop), alarm_(std::make_shared<Alarm>(loop.io)) {}

ObserverLink::~ObserverLink() {
    alarm_->waiting = nullptr;
    ++alarm_->round;
}

void ObserverLink::cancel() {
    cancelled_ = true;
    if (lookup_) lookup_->done.cancel();
    asio::error_code ignored;
    if (alarm_->waiting != nullptr) alarm_->waiting->cancel(ignored);
}

asio::awaitable<tl::expected<void, LinkFailure>> ObserverLink::open(protocol::NodeId member,
                                                                    Endpoint endpoint,
                                                                    ObserverMessage request,
                                                                    Deadline deadline) {
    std::string problem = "its name has no address";
    const std::vector<Address> addresses = co_await resolve(endpoint, deadline, problem);
    for (std::size_t i = 0; i < addresses.size() && !cancelled_; ++i) {
        // An address that swallows everything leaves the others their share of the time.
        const auto now = std::chrono::steady_clock::now();
        const auto share = (deadline - now) / static_cast<std::int64_t>(addresses.size() - i);
        problem = co_await connect(member, addresses[i], now + share);
        if (problem.empty()) problem = co_await send(request, deadline);
        if (problem.empty()) co_return tl::expected<void, LinkFailure>();
    }
    const bool refused = stream_ && problem == stream_->why_ended();
    stream_.reset();
    co_return tl::unexpected(LinkFailure{false, cancelled_ ? stopped : problem, refused});
}

asio::awaitable<tl::expected<void, LinkFailure>> ObserverLink::open_locally(std::string data_dir,
                                                                            ObserverMessage request,
                                                                            Deadline deadline) {
    auto socket = connect_locally(data_dir, control_socket_name, SOCK_STREAM);
    if (!socket) co_return tl::unexpected(LinkFailure{false, error_text(socket.error()), false});
    stream_ = std::make_unique<TcpStream>(loop_.io, socket->release());
    std::string problem = co_await send(request, deadline);
    if (problem.empty()) co_return tl::expected<void, LinkFailure>();
    stream_.reset();
    co_return tl::unexpected(LinkFailure{false, cancelled_ ? stopped : problem, false});
}

asio::awaitable<std::vector<Address>> ObserverLink::resolve(const Endpoint& endpoint,
                                                            Deadline deadline,
                                                            std::string& problem) {
    std::vector<Address> numeric = tcp::numeric_addresses(endpoint);
    if (!numeric.empty()) co_return numeric;

    const auto lookup = std::make_shared<Lookup>(loop_.io);
    lookup_ = lookup;
    lookup->done.expires_at(deadline);
    ++loop_.lookups;
    {
        const SignalsBlocked blocked;  // Asio makes its resolver's thread in here
        lookup->resolver.async_resolve(
            endpoint.host, std::to_string(endpoint.port),
            [lookup, &loop = loop_](const asio::error_code& error, const auto& results) {
                --loop.lookups;
                if (error) {
                    lookup->problem = "its name cannot be resolved: " + error.message();
                } else {
                    lookup->addresses.assign(results.begin(), results.end());
                }
                lookup->done.cancel();
            });
    }
    asio::error_code ignored;
    co_await lookup->done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    lookup_.reset();
    if (lookup->addresses.empty()) problem = lookup->problem;
    co_return lookup->addresses;
}

asio::awaitable<std::string> ObserverLink::connect(protocol::NodeId member, Address address,
                                                   Deadline deadline) {
    OwnedFd fd = tcp::start_connect(address);
    if (!fd) co_return error_text(errno);
    TlsStream* secured = nullptr;
    if (loop_.security) {
        auto stream = std::make_unique<TlsStream>(loop_.io, fd.release(),
                                                  TlsConnection::to(loop_.security->now(), member));
        secured = stream.get();
        stream_ = std::move(stream);
    } else {
        stream_ = std::make_unique<TcpStream>(loop_.io, fd.release());
    }
    switch (co_await wait_for(descriptor_base::wait_write, deadline)) {
        case Wait::timeout: co_return "connecting timed out";
        case Wait::cancelled: co_return stopped;
        case Wait::ready: break;
    }
    const int connected = stream_->descriptor().native_handle();
    if (const int error = tcp::connect_error(connected)) co_return error_text(error);
    tcp::set_options(connected, unacknowledged_max);
    if (secured != nullptr) co_return co_await secure(*secured, deadline);
    co_return std::string();
}

asio::awaitable<std::string> ObserverLink::secure(TlsStream& stream, Deadline deadline) {
    while (true) {
        Wait waited = Wait::ready;
        switch (stream.step()) {
            case TlsConnection::Step::done: co_return std::string();
            case TlsConnection::Step::failed: co_return stream.why_ended();
            case TlsConnection::Step::wants_read:
                waited = co_await wait_for(descriptor_base::wait_read, deadline);
                break;
            case TlsConnection::Step::wants_write:
                waited = co_await wait_for(descriptor_base::wait_write, deadline);
                break;
        }
        if (waited == Wait::timeout) co_return "the TLS handshake timed out";
        if (waited == Wait::cancelled) co_return stopped;
    }
}

asio::awaitable<std::string> ObserverLink::send(const ObserverMessage& request, Deadline deadline) {
    std::vector<std::byte> bytes;
    encode(Sender{}, request, bytes);
    std::span<const std::byte> rest(bytes);
    while (!rest.empty() || stream_->unsent()) {
        const IoResult result = rest.empty() ? stream_->send_rest() : stream_->write(rest);
        switch (result.status) {
            case IoStatus::done: rest = rest.subspan(result.bytes); break;
            case IoStatus::would_block:
                if (co_await wait_for(descriptor_base::wait_write, deadline) != Wait::ready) {
                    co_return "it does not read";
                }
                break;
            case IoStatus::eof:
            case IoStatus::reset:
            case IoStatus::truncated:
            case IoStatus::timeout:
            case IoStatus::unusable: co_return broken().why;
        }
    }
    co_return std::string();
}

LinkFailure ObserverLink::broken() const {
    std::string why = stream_ ? stream_->why_ended() : std::string();
    if (why.empty()) return {false, "the connection broke", false};
    return {false, std::move(why), true};
}

asio::awaitable<tl::expected<ObserverLink::Received, LinkFailure>> ObserverLink::receive(
    Deadline deadline) {
    const auto failure = [](std::string why, bool timed_out = false) {
        return tl::unexpected(LinkFailure{timed_out, std::move(why), false});
    };
    while (stream_ && !cancelled_) {
        auto next = reader_.next();
        if (!next)
            co_return tl::unexpected(LinkFailure{false, "it sends invalid data: " + next.error(),
                                                 next.error().starts_with(speaks_tls)});
        if (*next) {
            Frame& frame = **next;
            auto* message = std::get_if<ObserverMessage>(&frame.message);
            if (message == nullptr)
                co_return failure("it sends a message that is not for an observer");
            co_return Received{frame.sender, std::move(*message)};
        }
        const IoResult result = stream_->read(reader_.prepare());
        switch (result.status) {
            case IoStatus::done: reader_.commit(result.bytes); break;
            case IoStatus::would_block: {
                if (stream_->pending()) break;
                const Wait waited = co_await wait_for(descriptor_base::wait_read, deadline);
                if (waited == Wait::timeout) co_return failure("no answer in time", true);
                break;
            }
            case IoStatus::eof: co_return failure("it closed the connection");
            case IoStatus::reset:
            case IoStatus::truncated:
            case IoStatus::unusable: co_return tl::unexpected(broken());
            case IoStatus::timeout: co_return failure("the connection timed out");
        }
    }
    co_return failure(stopped);
}

asio::awaitable<ObserverLink::Wait> ObserverLink::wait_for(descriptor_base::wait_type what,
                                                           Deadline deadline) {
    if (cancelled_) co_return Wait::cancelled;
    alarm_->waiting = &stream_->descriptor();
    alarm_->rang = false;
    alarm_->timer.expires_at(deadline);
    alarm_->timer.async_wait([alarm = alarm_, round = ++alarm_->round](const asio::error_code& e) {
        if (e || alarm->round != round || alarm->waiting == nullptr) return;
        alarm->rang = true;
        asio::error_code ignored;
        alarm->waiting->cancel(ignored);
    });
    asio::error_code error;
    co_await stream_->descriptor().async_wait(what,
                                              asio::redirect_error(asio::use_awaitable, error));
    ++alarm_->round;
    alarm_->waiting = nullptr;
    alarm_->timer.cancel();
    if (cancelled_) co_return Wait::cancelled;
    // With another error the descriptor is as good as ready: the next read or write says what it
    // is.
    co_return error && alarm_->rang ? Wait::timeout : Wait::ready;
}

}  // namespace bullring
