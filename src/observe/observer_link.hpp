// Owns: one connection of an observer to one member. Connects (a name's addresses in turn), sends
// a request, and reads the answers, each with a deadline. Knows nothing of what is asked for and
// why. One thread: that of its loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "protocol/values/time.hpp"
#include "src/base/text/endpoint.hpp"
#include "src/node/net/stream.hpp"
#include "src/node/net/tls_stream.hpp"
#include "src/security/credential_watch.hpp"
#include "src/wire/framing.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_in(protocol::Duration d) {
    return std::chrono::steady_clock::now() + std::chrono::nanoseconds(d.ns);
}

/// The loop on which a command of an observer runs.
struct ObserverLoop {
    asio::io_context io{1};
    std::size_t lookups = 0;  // the resolver's thread is busy with so many, and can't be stopped
    std::shared_ptr<const TlsSource> security;  // null: connections are not secured

    /// By the files that the options name, which are read again when they have changed: a loop may
    /// last longer than a key. The error is for people, as is what `tell` gets from another thread.
    tl::expected<void, std::string> secure(const SecurityOptions& options, const Bearer& bearer,
                                           CredentialWatch::Tell tell = &CredentialWatch::tell_log);

private:
    std::optional<CredentialWatch> credentials_;
};

struct LinkFailure {
    bool timed_out = false;  // the connection is as it was: it may be waited for again
    std::string why;
    bool refused = false;  // somebody is there, and this end or the other is not authenticated
};

class ObserverLink {
public:
    explicit ObserverLink(ObserverLoop& loop);
    ~ObserverLink();
    ObserverLink(const ObserverLink&) = delete;
    ObserverLink& operator=(const ObserverLink&) = delete;

    /// Connects to this member and sends the request. Once only.
    asio::awaitable<tl::expected<void, LinkFailure>> open(protocol::NodeId member,
                                                          Endpoint endpoint,
                                                          ObserverMessage request,
                                                          Deadline deadline);
    /// The same, of the node whose data directory this is, on this machine.
    asio::awaitable<tl::expected<void, LinkFailure>> open_locally(std::string data_dir,
                                                                  ObserverMessage request,
                                                                  Deadline deadline);
    struct Received {
        Sender sender;
        ObserverMessage message;
    };
    asio::awaitable<tl::expected<Received, LinkFailure>> receive(Deadline deadline);

    /// All for which its host stands; none: `problem` says why.
    asio::awaitable<std::vector<asio::ip::tcp::endpoint>> resolve(const Endpoint& endpoint,
                                                                  Deadline deadline,
                                                                  std::string& problem);

    /// Every wait ends at once, as do all later ones.
    void cancel();

private:
    struct Lookup;
    struct Alarm;
    enum class Wait { ready, timeout, cancelled };

    // These give the problem, or nothing.
    asio::awaitable<std::string> connect(protocol::NodeId member, asio::ip::tcp::endpoint address,
                                         Deadline deadline);
    asio::awaitable<std::string> secure(TlsStream& stream, Deadline deadline);
    asio::awaitable<std::string> send(const ObserverMessage& request, Deadline deadline);
    asio::awaitable<Wait> wait_for(asio::posix::descriptor_base::wait_type what, Deadline deadline);

    LinkFailure broken() const;

    ObserverLoop& loop_;
    std::unique_ptr<Stream> stream_;
    FrameReader reader_{frame_bytes_max};
    std::shared_ptr<Lookup> lookup_;
    std::shared_ptr<Alarm> alarm_;
    bool cancelled_ = false;
};

}  // namespace bullring
