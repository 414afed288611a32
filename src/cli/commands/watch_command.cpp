// `bullring watch`: prints a line now and for each change of leader, for programs or for people.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include <asio/signal_set.hpp>
#include <poll.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/watcher.hpp"

namespace bullring {
namespace {

/// The reader of stdout is gone, although nothing has been written since.
bool stdout_closed() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLNVAL)) != 0;
}

class WatchCommand {
public:
    WatchCommand(ObserverLoop& loop, const WatchOptions& options)
        : silent_(options.log.level == LogLevel::error),
          for_people_(options.text),
          notes_(options.log.level),
          signals_(loop.io, SIGINT, SIGTERM),
          watcher_(loop, options.peers, options.cluster,
                   {[this](const ObserverChange& change) { print(change); },
                    [this](protocol::NodeId id, const std::string& address,
                           const std::string& why) { notes_.say(id, address, why); },
                    [this] {
                        if (!silent_) print_error("no member can be reached; still trying");
                    },
                    [this] {
                        if (stdout_closed()) stop(0);
                    }}) {}

    asio::awaitable<int> run() {
        signals_.async_wait([this](const asio::error_code& error, int) {
            if (!error) stop(0);
        });
        co_await watcher_.run();
        signals_.cancel();
        co_return status_;
    }

private:
    void stop(int status) {
        status_ = status;
        watcher_.stop();
    }

    void print(const ObserverChange& change) {
        const std::string line = (for_people_ ? watch_text(change, std::chrono::system_clock::now())
                                              : watch_line(change)) +
                                 '\n';
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

    bool silent_;
    bool for_people_;
    RefusalNotes notes_;
    asio::signal_set signals_;
    Watcher watcher_;
    int status_ = 0;
};

int run_watch(const WatchOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);  // a closed stdout is the write's error
    return run_observer(options, [&](ObserverLoop& loop) -> asio::awaitable<int> {
        WatchCommand command(loop, options);
        co_return co_await command.run();
    });
}

}  // namespace

Work watch_command(const Given& given) {
    return {WatchOptions{observer_options(given), given.request.text.value}, run_watch};
}

}  // namespace bullring
