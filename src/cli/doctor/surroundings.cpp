#include "src/cli/doctor/surroundings.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <poll.h>

#include "src/base/os/owned_fd.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/os/tcp.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/observe/join_plan.hpp"
#include "src/observe/observer_client.hpp"

namespace bullring::doctor {

namespace {

using Clock = std::chrono::steady_clock;

/// One name that is looked up. The system's resolver can't be stopped, so nobody waits for its
/// thread.
class Lookup {
public:
    explicit Lookup(const Endpoint& endpoint) {
        if (Addresses numeric = tcp::numeric_addresses(endpoint); !numeric.empty()) {
            known_ = std::move(numeric);
            return;
        }
        std::promise<Resolved> promise;
        answer_ = promise.get_future();
        try {
            quiet_thread([endpoint, promise = std::move(promise)]() mutable {
                promise.set_value(tcp::resolve(endpoint));
            }).detach();
        } catch (const std::system_error& error) {
            known_ = tl::unexpected(failure_text(error));
        }
    }

    Resolved wait_until(Clock::time_point end, bool& pending) {
        if (known_) return *known_;
        if (answer_.wait_until(end) == std::future_status::ready) return answer_.get();
        pending = true;
        return tl::unexpected(std::string("the resolver does not answer"));
    }

private:
    std::optional<Resolved> known_;
    std::future<Resolved> answer_;
};

/// Connections that are being made, to all addresses of all members at once.
class Dialled {
public:
    void dial(protocol::NodeId id, const asio::ip::tcp::endpoint& address) {
        OwnedFd connection = tcp::start_connect(address);
        if (!connection) return ended(id, address, errno, {});
        waited_.push_back({connection.get(), POLLOUT, 0});
        ways_.push_back({id, address, std::move(connection)});
    }

    std::map<protocol::NodeId, Reach> wait_until(Clock::time_point end) {
        std::size_t pending = ways_.size();
        while (pending > 0) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
            if (left <= 0) break;
            const int ready = ::poll(waited_.data(), waited_.size(), static_cast<int>(left));
            if (ready < 0 && errno != EINTR) break;
            for (std::size_t i = 0; ready > 0 && i < waited_.size(); ++i) {
                if (waited_[i].fd < 0 || waited_[i].revents == 0) continue;
                const int error = tcp::connect_error(waited_[i].fd);
                ended(ways_[i].id, ways_[i].address, error,
                      error == 0 ? tcp::round_trip(waited_[i].fd) : protocol::Duration{});
                waited_[i].fd = -1;  // poll() passes it over
                --pending;
            }
        }
        for (std::size_t i = 0; i < waited_.size(); ++i)
            if (waited_[i].fd >= 0) ended(ways_[i].id, ways_[i].address, ETIMEDOUT, {});
        return std::move(reached_);
    }

private:
    struct Way {
        protocol::NodeId id;
        asio::ip::tcp::endpoint address;
        OwnedFd connection;
    };

    /// One way is enough. Of several failures the one that says the most: a machine that answers.
    void ended(protocol::NodeId id, const asio::ip::tcp::endpoint& address, int error,
               protocol::Duration round_trip) {
        const Reach now{error, round_trip, address};
        const auto [one, is_first] = reached_.emplace(id, now);
        if (is_first || one->second.error == 0) return;
        if (error == 0 || error == ECONNREFUSED) one->second = now;
    }

    std::vector<Way> ways_;
    std::vector<pollfd> waited_;
    std::map<protocol::NodeId, Reach> reached_;
};

Clock::time_point in(protocol::Duration time) {
    return Clock::now() + std::chrono::nanoseconds(time.ns);
}

std::map<protocol::NodeId, MemberAnswer> ask(const NodeOptions& options,
                                             const std::map<protocol::NodeId, Reach>& reached,
                                             protocol::Duration patience) {
    ObserverOptions asking;
    asking.cluster = options.config.cluster;
    asking.security = options.security;
    asking.log.level = LogLevel::error;  // what there is to say of them is found by another check
    for (const auto& [id, one] : reached)
        if (one.error == 0)
            asking.peers.emplace(
                id, Endpoint{one.connected.address().to_string(), one.connected.port()});
    std::map<protocol::NodeId, MemberAnswer> answers;
    const auto ask_them = [&] {
        if (asking.peers.empty()) return;
        run_observer(asking, [&](ObserverLoop& loop) -> asio::awaitable<int> {
            for (MemberAnswer& one :
                 co_await ask_only(loop, asking.peers, asking.cluster, deadline_in(patience)))
                if (one.answer || !answers.contains(one.id))
                    answers.insert_or_assign(one.id, std::move(one));
            co_return 0;
        });
    };
    ask_them();
    if (!options.security.migrate) return answers;
    // A node in a migration dials members that have no security yet without.
    std::erase_if(asking.peers,
                  [&](const auto& peer) { return answers[peer.first].answer.has_value(); });
    asking.security = {};
    ask_them();
    return answers;
}

/// As the node itself would ask, with its credentials. It asks what all may ask, and for no place.
std::vector<MemberAnswer> ask_as_joiner(const NodeOptions& options,
                                        const protocol::Membership& list,
                                        protocol::Duration patience, bool& lookups_pending) {
    auto loop = std::make_unique<ObserverLoop>();
    const auto tell = [](LogLevel, const std::string&) {};
    if (const auto secured =
            loop->secure(options.security, {options.config.cluster, options.config.self}, tell);
        !secured)
        throw std::runtime_error(secured.error());
    std::vector<MemberAnswer> answers =
        run_to_end(*loop, ask_anybody(*loop, asked_to_join(options, {list}), options.config.cluster,
                                      deadline_in(patience)));
    if (loop->lookups != 0) {
        lookups_pending = true;
        static_cast<void>(loop.release());  // a thread that can't be stopped uses it
    }
    return answers;
}

}  // namespace

bool Surroundings::runs(const NodeOptions& options) const {
    const auto own = answers.find(options.config.self);
    return own != answers.end() && own->second.answer.has_value();
}

Surroundings look_around(const NodeOptions& options, const protocol::Membership& list,
                         protocol::Duration patience) {
    std::map<protocol::NodeId, Lookup> lookups;
    for (const auto& [id, endpoint] : options.peers) lookups.emplace(id, Lookup(endpoint));
    Lookup listen(options.listen);
    std::optional<Lookup> http;
    if (options.http.address.port != 0) http.emplace(options.http.address);

    Surroundings around;
    const auto names_end = in(patience);
    Dialled dialled;
    for (auto& [id, lookup] : lookups) {
        const Resolved& found =
            around.names.emplace(id, lookup.wait_until(names_end, around.lookups_pending))
                .first->second;
        for (const auto& address : found.value_or(Addresses{})) dialled.dial(id, address);
    }
    around.listen = listen.wait_until(names_end, around.lookups_pending);
    if (http) around.http = http->wait_until(names_end, around.lookups_pending);
    around.reached = dialled.wait_until(in(patience));
    around.answers = ask(options, around.reached, patience);
    if (!options.join.empty())
        around.joined = ask_as_joiner(options, list, patience, around.lookups_pending);
    return around;
}

}  // namespace bullring::doctor
