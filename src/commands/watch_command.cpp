// `bullring watch`: follows one member and prints a JSON line now and for each change of leader.
// When that member is gone, or says nothing any more, it goes on with the next at once.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <asio/redirect_error.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <poll.h>
#include <unistd.h>

#include "protocol/rng.hpp"
#include "src/commands/commands.hpp"
#include "src/observer/observer_client.hpp"
#include "src/observer/watch_sequence.hpp"
#include "src/report/logging.hpp"
#include "src/runtime/clock.hpp"

namespace bullring {
namespace {

// A member sends its state at once, and again at least every second.
constexpr protocol::Duration first_state_max = protocol::seconds(1);
constexpr protocol::Duration silence_max = protocol::seconds(3);
// Nobody can be reached for this long: then no leader is known any more.
constexpr protocol::Duration unreachable_max = protocol::seconds(3);
constexpr protocol::Duration pause_min = protocol::milliseconds(10);
constexpr protocol::Duration pause_max = protocol::milliseconds(500);

protocol::Duration steady_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

/// The reader of stdout is gone, although nothing has been written since.
bool stdout_closed() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLNVAL)) != 0;
}

class WatchCommand {
public:
    WatchCommand(ObserverLoop& loop, const WatchOptions& options)
        : loop_(loop),
          options_(options),
          members_(options.peers.begin(), options.peers.end()),
          notes_(options.log.level),
          rng_(random_bits()),
          pause_timer_(loop.io),
          signals_(loop.io, SIGINT, SIGTERM) {}

    asio::awaitable<int> run() {
        signals_.async_wait([this](const asio::error_code& error, int) {
            if (!error) stop(0);
        });
        // Many watchers spread over the members.
        std::size_t place = rng_.below(members_.size());
        std::size_t in_vain = 0;
        last_heard_ = steady_now();
        while (!stopped_) {
            const protocol::Duration begin = steady_now();
            const bool heard = co_await follow(place);
            sequence_.on_switch();
            place = (place + 1) % members_.size();
            if (heard && steady_now() - begin > protocol::seconds(1)) {
                in_vain = 0;
                pause_ = pause_min;
                continue;
            }
            if (++in_vain < members_.size()) continue;
            in_vain = 0;
            note_unreachable();
            co_await pause();
        }
        signals_.cancel();
        co_return status_;
    }

private:
    using Member = std::pair<protocol::NodeId, Endpoint>;

    void stop(int status) {
        stopped_ = true;
        status_ = status;
        pause_timer_.cancel();
        if (link_ != nullptr) link_->cancel();
    }

    /// Until this member is of no more use. True when it has told its state at least once.
    asio::awaitable<bool> follow(std::size_t place) {
        const Member& member = members_[place];
        ObserverLink link(loop_);
        link_ = &link;
        Observe request{options_.cluster, ObserveWhat::watch, protocol::nobody};
        const auto opened =
            co_await link.open(member.second, std::move(request), deadline_in(first_state_max));
        bool heard = false;
        while (opened && !stopped_) {
            const auto received =
                co_await link.receive(deadline_in(heard ? silence_max : first_state_max));
            if (!received) break;
            if (const auto* refused = std::get_if<ObserverRefused>(&received->message)) {
                notes_.say(member.first, to_text(member.second), difference(*refused));
                break;
            }
            const auto* state = std::get_if<ObserverChange>(&received->message);
            if (state == nullptr) break;
            heard = true;
            unreachable_said_ = false;
            last_heard_ = steady_now();
            print(sequence_.on_state(*state, last_heard_));
            if (stdout_closed()) stop(0);
        }
        link_ = nullptr;
        co_return heard;
    }

    void note_unreachable() {
        if (stopped_ || steady_now() - last_heard_ < unreachable_max) return;
        print(sequence_.on_nobody_reachable(read_clock().boottime_ns));
        if (stdout_closed()) stop(0);
        if (unreachable_said_ || options_.log.level == LogLevel::error) return;
        unreachable_said_ = true;
        print_error("no member can be reached; trying on");
    }

    asio::awaitable<void> pause() {
        if (stopped_) co_return;
        const protocol::Duration length = std::min(pause_ + rng_.up_to(pause_ / 2), pause_max);
        pause_ = std::min(pause_ * 2, pause_max);
        pause_timer_.expires_after(std::chrono::nanoseconds(length.ns));
        asio::error_code ignored;
        co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }

    void print(const std::optional<ObserverChange>& change) {
        if (!change || stopped_) return;
        const std::string line = watch_line(*change) + '\n';
        std::string_view rest = line;
        while (!rest.empty()) {
            const ssize_t count = ::write(STDOUT_FILENO, rest.data(), rest.size());
            if (count >= 0) {
                rest.remove_prefix(static_cast<std::size_t>(count));
            } else if (errno == EPIPE) {
                return stop(0);  // the reader has seen enough
            } else if (errno != EINTR) {
                print_error(std::string("stdout can't be written: ") + std::strerror(errno));
                return stop(1);
            }
        }
    }

    ObserverLoop& loop_;
    const WatchOptions& options_;
    std::vector<Member> members_;
    WatchSequence sequence_;
    RefusalNotes notes_;
    protocol::Rng rng_;
    asio::steady_timer pause_timer_;
    asio::signal_set signals_;
    ObserverLink* link_ = nullptr;  // the member that is followed now
    protocol::Duration pause_ = pause_min;
    protocol::Duration last_heard_;
    bool unreachable_said_ = false;
    bool stopped_ = false;
    int status_ = 0;
};

}  // namespace

int run_watch(const WatchOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);  // a closed stdout is the write's error
    return run_observer([&](ObserverLoop& loop) -> asio::awaitable<int> {
        WatchCommand command(loop, options);
        co_return co_await command.run();
    });
}

}  // namespace bullring
