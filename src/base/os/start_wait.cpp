#include "src/base/os/start_wait.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include <signal.h>
#include <unistd.h>

#include "src/base/os/notify_socket.hpp"

namespace bullring {

namespace {

using Clock = std::chrono::steady_clock;

class SignalsOfTheWait {
public:
    SignalsOfTheWait() {
        for (std::size_t i = 0; i < signals.size(); ++i) {
            struct sigaction action {};
            action.sa_handler = [](int signal) {
                if (signal != SIGHUP) ::_exit(0);
            };
            ::sigaction(signals[i], &action, &before_[i]);
        }
    }
    SignalsOfTheWait(const SignalsOfTheWait&) = delete;
    SignalsOfTheWait& operator=(const SignalsOfTheWait&) = delete;
    ~SignalsOfTheWait() {
        for (std::size_t i = 0; i < signals.size(); ++i)
            ::sigaction(signals[i], &before_[i], nullptr);
    }

private:
    static constexpr std::array<int, 3> signals{SIGTERM, SIGINT, SIGHUP};
    std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace

bool wait_to_start(const std::function<Obstacles()>& look,
                   const std::function<void(const std::string&)>& say) {
    const SignalsOfTheWait signals;
    Obstacles said;
    Clock::time_point next{};
    std::chrono::minutes gap{};
    for (Obstacles found = look(); !found.empty(); found = look()) {
        const bool is_new = found != said;
        if (is_new || Clock::now() >= next) {
            gap = is_new ? std::chrono::minutes(1) : std::min(gap * 2, std::chrono::minutes(64));
            next = Clock::now() + gap;
            said = std::move(found);
            for (const std::string& obstacle : said) say(obstacle + "; waiting for that to change");
            tell_manager("STATUS=waiting: " + said.front());
        }
        const timespec pause{1, 0};
        ::nanosleep(&pause, nullptr);
    }
    return said.empty();
}

}  // namespace bullring
