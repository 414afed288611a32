#include "src/base/os/notify_socket.hpp"

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace bullring {

namespace {

/// Empty when it is not set, or empty.
std::string take_variable(const char* name) {
    const char* const value = std::getenv(name);
    std::string text = value != nullptr ? value : "";
    ::unsetenv(name);
    return text;
}

std::optional<std::int64_t> positive(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value <= 0) return std::nullopt;
    return value;
}

bool is_address(std::string_view path) {
    return path.size() > 1 && path.size() < sizeof(sockaddr_un::sun_path) &&
           (path.front() == '/' || path.front() == '@');
}

}  // namespace

ManagerVariables take_manager_variables() {
    constexpr std::int64_t us_max = 1'000'000'000'000;
    ManagerVariables result;
    std::string socket = take_variable("NOTIFY_SOCKET");
    const std::string watchdog = take_variable("WATCHDOG_USEC");
    const std::string watched = take_variable("WATCHDOG_PID");
    if (socket.empty()) return result;
    if (!is_address(socket)) {
        result.problem = fmt::format(
            "nothing is sent to the service manager: NOTIFY_SOCKET is '{}'; expected an absolute "
            "path or @NAME",
            socket);
        return result;
    }
    result.socket = std::move(socket);
    const bool for_this = watched.empty() || watched == std::to_string(::getpid());
    if (watchdog.empty() || !for_this) return result;
    const auto us = positive(watchdog);
    if (us && *us <= us_max)
        result.watchdog = {*us * 1000};
    else
        result.problem = fmt::format(
            "no watchdog: WATCHDOG_USEC is '{}'; expected a number of microseconds", watchdog);
    return result;
}

void tell_manager(const std::string& lines) {
    const char* const socket = std::getenv("NOTIFY_SOCKET");
    if (socket != nullptr && is_address(socket)) NotifySocket(socket).send(lines);
}

NotifySocket::NotifySocket(const std::string& path)
    : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';
    // The name of an abstract socket ends where the address does.
    address_.assign(reinterpret_cast<const char*>(&address),
                    offsetof(sockaddr_un, sun_path) + path.size());
}

bool NotifySocket::send(const std::string& lines) const {
    sockaddr_un address{};
    std::memcpy(&address, address_.data(), address_.size());
    return ::sendto(socket_.get(), lines.data(), lines.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&address),
                    static_cast<socklen_t>(address_.size())) >= 0;
}

}  // namespace bullring
