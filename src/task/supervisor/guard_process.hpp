// Owns: a node's side of the guard of its command: starting it, orders, reports, and its death.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"
#include "src/task/supervisor/guard_records.hpp"
#include "src/task/supervisor/guard_settings.hpp"

namespace bullring {

class GuardProcess {
public:
    struct Callbacks {
        std::function<void(const GuardReport&)> report;
        std::function<void()> lost;  // it has died, or does not read
    };

    /// `socket` and `page` of the settings are set here.
    GuardProcess(asio::io_context& io, GuardSettings settings, int page, Callbacks callbacks);
    GuardProcess(const GuardProcess&) = delete;
    GuardProcess& operator=(const GuardProcess&) = delete;
    /// Lets it go: it ends what still runs, and itself.
    ~GuardProcess();

    /// Starts one, after the first or another one has been lost.
    tl::expected<void, std::string> spawn();
    bool lost() const { return !socket_; }
    /// 0 when it is lost.
    pid_t pid() const { return pid_; }

    /// It keeps a duplicate of the descriptor open for as long as a command may run.
    void hold(int descriptor);
    /// The undertaker's (see GuardOrder).
    void notice(int descriptor);
    /// For the last word (see GuardOrder).
    void keep(protocol::SessionId session, int descriptor);
    void forget(protocol::SessionId session);
    /// `progress`: becomes the command's descriptor 3; -1: none. `last_word`: empty, or one frame.
    void start(protocol::Epoch epoch, int progress, std::span<const std::byte> last_word);
    void stop(protocol::Epoch epoch);
    void signal(int signal);
    /// For one that does not obey. lost() follows.
    void kill();
    /// Waits for its end; kills it after `patience`.
    void wait(protocol::Duration patience = protocol::forever);

private:
    void order(const GuardOrder& order, int descriptor = -1);
    void listen();
    void read_reports();
    void lose();

    asio::io_context& io_;
    GuardSettings settings_;
    int page_;
    Callbacks callbacks_;
    std::optional<asio::posix::stream_descriptor> socket_;
    pid_t pid_ = 0;
};

}  // namespace bullring
