#include "src/verify/drill/lookout.hpp"

#include <chrono>
#include <exception>
#include <utility>
#include <variant>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "src/observe/observer_client.hpp"
#include "src/observe/status_report.hpp"

namespace bullring::drill {

namespace {

// A member sends its state at once, and again at least every second.
constexpr protocol::Duration first_state_max = protocol::seconds(1);
constexpr protocol::Duration silence_max = protocol::seconds(3);
constexpr protocol::Duration dial_pause = protocol::milliseconds(20);
/// Each question is a connection. The elections must not notice them.
constexpr protocol::Duration question_pause = protocol::milliseconds(25);
constexpr protocol::Duration status_answer_max = protocol::milliseconds(500);

protocol::Duration since_epoch(Deadline at) {
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count()};
}

protocol::Duration now() { return since_epoch(std::chrono::steady_clock::now()); }

/// Something that is in a set for as long as it lives.
template <class T>
struct Listed {
    Listed(std::set<T*>& in, T& one) : set(in), element(one) { set.insert(&element); }
    ~Listed() { set.erase(&element); }
    Listed(const Listed&) = delete;
    Listed& operator=(const Listed&) = delete;
    std::set<T*>& set;
    T& element;
};

}  // namespace

Lookout::Lookout(ObserverLoop& loop, const PeerList& peers, std::string cluster)
    : loop_(loop), peers_(peers), cluster_(std::move(cluster)), news_(loop.io, Deadline::max()) {}

void Lookout::start() {
    for (const auto& [id, endpoint] : peers_) {
        spawn(follow(id, endpoint));
        spawn(question(id, endpoint));
    }
}

void Lookout::spawn(asio::awaitable<void> work) {
    ++working_;
    asio::co_spawn(loop_.io, std::move(work), [this](const std::exception_ptr& failure) {
        --working_;
        news_.cancel();
        if (failure) std::rethrow_exception(failure);
    });
}

asio::awaitable<void> Lookout::stop() {
    stopped_ = true;
    while (working_ != 0) {
        for (ObserverLink* const link : links_) link->cancel();
        for (asio::steady_timer* const timer : pauses_) timer->cancel();
        news_.expires_at(Deadline::max());
        asio::error_code ignored;
        co_await news_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
}

asio::awaitable<void> Lookout::pause(protocol::Duration time) {
    if (stopped_) co_return;
    asio::steady_timer timer(loop_.io, std::chrono::nanoseconds(time.ns));
    const Listed listed(pauses_, timer);
    asio::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// ---- Leaders.

asio::awaitable<void> Lookout::follow(protocol::NodeId id, Endpoint endpoint) {
    while (!stopped_) {
        co_await listen(id, endpoint);
        co_await pause(dial_pause);
    }
}

asio::awaitable<void> Lookout::listen(protocol::NodeId id, const Endpoint& endpoint) {
    ObserverLink link(loop_);
    const Listed listed(links_, link);
    // Named: g++ 12 destroys a temporary of such an expression twice.
    ObserverMessage request = Observe{cluster_, ObserveWhat::watch, protocol::nobody};
    const auto opened =
        co_await link.open(id, endpoint, std::move(request), deadline_in(first_state_max));
    protocol::Duration wait = first_state_max;
    while (opened && !stopped_) {
        const auto received = co_await link.receive(deadline_in(wait));
        if (!received) co_return;
        const auto* change = std::get_if<ObserverChange>(&received->message);
        if (change == nullptr) co_return;
        wait = silence_max;
        on_change(id, *change);
    }
}

void Lookout::on_change(protocol::NodeId member, const ObserverChange& change) {
    if (!change.leader) return;
    // A report that is repeated every second may be older than the question: it is no answer to it.
    if (change.leader == member) on_claim({member, change.epoch, std::nullopt, now()});
    if (found_ || change.epoch <= above_) return;
    found_ = std::chrono::steady_clock::now();
    news_.cancel();
}

void Lookout::expect_leader_above(protocol::Epoch epoch) {
    above_ = epoch;
    found_.reset();
}

asio::awaitable<std::optional<Deadline>> Lookout::leader_found(Deadline deadline) {
    while (!found_ && std::chrono::steady_clock::now() < deadline) {
        news_.expires_at(deadline);
        asio::error_code ignored;
        co_await news_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_return found_;
}

// ---- Claims.

asio::awaitable<void> Lookout::question(protocol::NodeId id, Endpoint endpoint) {
    const PeerList only{{id, std::move(endpoint)}};
    while (!stopped_) {
        const protocol::Duration asked = now();
        const auto answers =
            co_await ask_only(loop_, only, cluster_, deadline_in(status_answer_max));
        const auto& answer = answers.front().answer;
        if (answer && answer->role == "leader" && answer->lease_left_ms > 0)
            on_claim({id, answer->epoch, asked, now()});
        co_await pause(question_pause);
    }
}

void Lookout::on_claim(const Claim& claim) {
    if (auto two = claims_.add(claim)) contradiction_ = std::move(*two);
}

std::string Lookout::take_contradiction() { return std::exchange(contradiction_, {}); }

}  // namespace bullring::drill
