#include "src/node/net/dialler.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "src/base/text/failure_text.hpp"
#include "src/node/net/connection_attempt.hpp"

namespace bullring {

using protocol::Duration;
using protocol::NodeId;

namespace {

/// How long an attempt waits for the resolver where nothing is known yet.
constexpr Duration resolve_max = protocol::seconds(1);
/// The resolver is not asked again for the addresses of a name that it has resolved so lately.
constexpr std::chrono::seconds fresh_for{1};
/// A peer that could not be reached for so long is reported: longer than a restart
/// takes.
constexpr std::chrono::seconds unreachable_after{5};

std::chrono::nanoseconds chrono(Duration d) { return std::chrono::nanoseconds(d.ns); }

}  // namespace

Dialler::Dialler(asio::io_context& io, NodeId self, const PeerList& peers, const DialTiming& timing,
                 std::uint64_t seed, Callbacks callbacks)
    : io_(io), self_(self), timing_(timing), rng_(seed), callbacks_(std::move(callbacks)) {
    for (const auto& [id, endpoint] : peers) add(id, endpoint, {});
}

void Dialler::add(NodeId id, const Endpoint& endpoint, Addresses called_from) {
    if (id == self_) return;
    auto peer = std::make_shared<Peer>(io_, endpoint);
    peer->pause = timing_.pause_min;
    peer->called_from = std::move(called_from);
    peer->numeric = on_addresses(*peer, tcp::numeric_addresses(endpoint));
    peers_.emplace(id, peer);
    if (started_) keep_connected(id, peer);
}

void Dialler::start() {
    started_ = true;
    for (auto& [id, peer] : peers_) keep_connected(id, peer);
}

void Dialler::follow(const PeerList& peers) {
    std::map<NodeId, Addresses> called;
    for (const auto& [id, known] : peers_) called.emplace(id, known->called_from);
    std::erase_if(peers_, [&](const auto& known) {
        const auto found = peers.find(known.first);
        if (found != peers.end() && found->second == known.second->endpoint) return false;
        known.second->gone = true;
        end(*known.second);
        return true;
    });
    for (const auto& [id, endpoint] : peers)
        if (!peers_.contains(id)) add(id, endpoint, called[id]);
}

void Dialler::note_call(NodeId id, const std::string& from) {
    const auto found = peers_.find(id);
    const auto endpoint = parse_endpoint(from);
    if (found == peers_.end() || !endpoint) return;
    if (Addresses where = tcp::numeric_addresses(*endpoint); !where.empty())
        found->second->called_from = std::move(where);
}

void Dialler::dial_now(NodeId id) {
    const auto found = peers_.find(id);
    if (found == peers_.end() || found->second->in_session) return;
    found->second->hurry = true;
    found->second->pause = timing_.pause_min;
    found->second->signal.cancel();
}

void Dialler::on_established(NodeId id) {
    const auto found = peers_.find(id);
    if (found == peers_.end()) return;
    found->second->pause = timing_.pause_min;
    found->second->answered = true;
}

void Dialler::on_session_over(Dial dial, bool refused) {
    const auto found = peers_.find(dial.peer);
    if (found == peers_.end()) return;
    if (!found->second->in_session || found->second->dial != dial.number) return;
    found->second->in_session = false;
    found->second->refused = refused;
    if (!found->second->answered) ++found->second->misses;
    found->second->signal.cancel();
}

void Dialler::replace(Dial dial) {
    on_session_over(dial, false);
    dial_now(dial.peer);
}

void Dialler::stop() {
    stopped_ = true;
    for (auto& [id, peer] : peers_) end(*peer);
}

void Dialler::end(Peer& peer) {
    peer.lookup.forget();
    peer.signal.cancel();
}

bool Dialler::is_host_of_peer(const std::string& host) const {
    return std::any_of(peers_.begin(), peers_.end(), [&](const auto& one) {
        const Addresses& called = one.second->called_from;
        return one.second->hosts.contains(host) ||
               (!called.empty() && tcp::host_of(tcp::to_text(called.front())) == host);
    });
}

void Dialler::keep_connected(NodeId id, const std::shared_ptr<Peer>& peer) {
    asio::co_spawn(io_, dial_again_and_again(id, peer), [this](std::exception_ptr failure) {
        if (!failure) return;
        try {
            std::rethrow_exception(failure);
        } catch (const std::exception& error) {
            callbacks_.failed(std::string("dialling has failed: ") + failure_text(error));
        }
    });
}

/// Where it is tried first another one may answer, or something that hangs: the next attempt begins
/// with the next address.
Dialler::Addresses Dialler::turn_of(const Peer& peer) {
    Addresses all = peer.addresses;
    for (const auto& address : peer.called_from)
        if (std::find(all.begin(), all.end(), address) == all.end()) all.push_back(address);
    if (all.empty()) return all;
    const auto first = static_cast<Addresses::difference_type>(peer.misses % all.size());
    std::rotate(all.begin(), all.begin() + first, all.end());
    return all;
}

bool Dialler::is_elsewhere(const Peer& peer, int fd) {
    const std::string reached = tcp::addresses_of(fd).remote;
    return std::none_of(peer.addresses.begin(), peer.addresses.end(),
                        [&](const auto& address) { return tcp::to_text(address) == reached; });
}

asio::awaitable<void> Dialler::dial_again_and_again(NodeId id, std::shared_ptr<Peer> shared) {
    Peer& peer = *shared;
    while (is_wanted(peer)) {
        if (peer.addresses.empty()) look_up(peer);
        if (peer.addresses.empty() && peer.called_from.empty()) {
            peer.waits_for_address = true;
            co_await wait(peer, resolve_max);
            peer.waits_for_address = false;
        }
        Addresses addresses = turn_of(peer);
        // For the next attempt; not before this one has begun, since it makes a thread.
        asio::post(io_, [this, shared] { look_up(*shared); });
        OwnedFd fd = co_await connect_to_one_of(io_, std::move(addresses), timing_.connect_max);
        if (!is_wanted(peer)) co_return;
        if (fd) {
            peer.in_session = true;
            peer.answered = false;
            peer.hurry = false;
            peer.failing_since.reset();
            peer.reported_unreachable = false;
            peer.dial = ++dials_;
            const Dial dial{id, peer.dial, is_elsewhere(peer, fd.get())};
            callbacks_.connected(dial, std::move(fd));
            while (peer.in_session && is_wanted(peer)) co_await wait(peer, protocol::seconds(3600));
        } else {
            note_failure(id, peer);
        }
        if (is_wanted(peer)) co_await pause(peer);
    }
}

void Dialler::look_up(Peer& peer) {
    if (peer.numeric || peer.gone) return;
    const auto now = asio::steady_timer::clock_type::now();
    if (peer.lookup.running() || (peer.found_at && now - *peer.found_at < fresh_for)) return;
    peer.lookup.start(peer.endpoint, [this, &peer](Addresses found) {
        on_addresses(peer, std::move(found));
        if (peer.waits_for_address) peer.signal.cancel();
    });
}

bool Dialler::on_addresses(Peer& peer, Addresses found) {
    if (found.empty()) return false;
    peer.found_at = asio::steady_timer::clock_type::now();
    peer.addresses = std::move(found);
    peer.hosts.clear();
    for (const auto& address : peer.addresses) {
        peer.hosts.insert(tcp::host_of(tcp::to_text(address)));
    }
    return true;
}

void Dialler::note_failure(NodeId id, Peer& peer) {
    const auto now = asio::steady_timer::clock_type::now();
    if (!peer.failing_since) peer.failing_since = now;
    if (peer.reported_unreachable || now - *peer.failing_since < unreachable_after) return;
    peer.reported_unreachable = true;
    callbacks_.unreachable(
        id,
        peer.addresses.empty()
            ? "the name " + peer.endpoint.host + " does not resolve"
            : "no answer at " + to_text(peer.endpoint) +
                  (peer.called_from.empty() ? ""
                                            : " nor at " + tcp::to_text(peer.called_from.front()) +
                                                  ", where it has called from"));
}

asio::awaitable<void> Dialler::pause(Peer& peer) {
    Duration length;
    if (peer.refused) {
        const Duration half = timing_.refused_pause_max / 2;
        length = half + rng_.up_to(half);
    } else {
        length = std::min(peer.pause + rng_.up_to(peer.pause / 2), timing_.pause_max);
        peer.pause = std::min(peer.pause * 2, timing_.pause_max);
    }
    peer.refused = false;
    if (!peer.hurry) co_await wait(peer, length);
    peer.hurry = false;
}

asio::awaitable<void> Dialler::wait(Peer& peer, Duration at_most) {
    asio::error_code ignored;
    peer.signal.expires_after(chrono(at_most));
    co_await peer.signal.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace bullring
