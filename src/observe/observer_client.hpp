// The common part of the observers' commands: a loop to run on, rounds of questions, and what is
// said of those who refuse.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>

#include "src/observe/asking.hpp"
#include "src/observe/observer_link.hpp"
#include "src/observe/observer_options.hpp"
#include "src/observe/status_report.hpp"

namespace bullring {

/// Runs one command on `loop` to its end; what it throws comes out here.
template <class Result>
Result run_to_end(ObserverLoop& loop, asio::awaitable<Result> command) {
    Result result{};
    std::exception_ptr failure;
    asio::co_spawn(loop.io, std::move(command), [&](std::exception_ptr error, Result value) {
        failure = std::move(error);
        result = std::move(value);
        loop.io.stop();
    });
    loop.io.run();
    if (failure) std::rethrow_exception(failure);
    return result;
}

/// Secures its connections as the options say. Runs one command to its end and returns its exit
/// status; what it throws comes out here. When a name is still being looked up by then, nothing can
/// stop the lookup: the process ends here.
int run_observer(const ObserverOptions& options,
                 const std::function<asio::awaitable<int>(ObserverLoop&)>& command);

asio::awaitable<void> sleep_until(ObserverLoop& loop, Deadline deadline);

/// One round of questions lasts at most this long when the command may ask again.
inline constexpr protocol::Duration round_max = protocol::seconds(1);
inline constexpr protocol::Duration round_pause = protocol::milliseconds(50);
Deadline round_deadline(Deadline end);

/// A line on stderr for each member that refuses, once until the reason changes. Not at log level
/// `error`.
class RefusalNotes {
public:
    explicit RefusalNotes(LogLevel level) : silent_(level == LogLevel::error) {}
    void say(const std::vector<MemberAnswer>& members);
    void say(protocol::NodeId id, const std::string& address, const std::string& problem);

private:
    bool silent_;
    std::map<protocol::NodeId, std::string> said_;
};

}  // namespace bullring
