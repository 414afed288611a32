#include "src/watch/directory_watch.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

#include <sys/inotify.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

/// By then a process that replaces a file has done so.
constexpr std::chrono::seconds reported_after{1};

OwnedFd watch_of(const std::string& path) {
    OwnedFd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (events &&
        ::inotify_add_watch(events.get(), path.c_str(), IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) < 0)
        events = OwnedFd();
    return events;
}

}  // namespace

DirectoryWatch::DirectoryWatch(asio::io_context& io, const std::string& path,
                               std::function<void(const std::string& name)> removed)
    : events_(io), timer_(io), removed_(std::move(removed)) {
    OwnedFd events = watch_of(path);
    if (!events) {
        log(LogLevel::info, "what is removed from " + path +
                                " is not noticed: " + std::generic_category().message(errno));
        return;
    }
    events_.assign(events.release());
    wait();
}

void DirectoryWatch::wait() {
    events_.async_wait(asio::posix::descriptor_base::wait_read,
                       [this](const asio::error_code& error) {
                           if (error) return;
                           read_events();
                           wait();
                       });
}

void DirectoryWatch::read_events() {
    alignas(inotify_event) char bytes[4096];
    ssize_t count = 0;
    while ((count = ::read(events_.native_handle(), bytes, sizeof bytes)) > 0) {
        for (ssize_t at = 0; at < count;) {
            inotify_event event{};
            std::memcpy(&event, bytes + at, sizeof event);
            if (event.len > 0 || (event.mask & IN_Q_OVERFLOW) != 0) {
                if (names_.empty()) tell_soon();
                names_.emplace(event.len > 0 ? bytes + at + sizeof event : any_file);
            }
            at += static_cast<ssize_t>(sizeof event + event.len);
        }
    }
}

void DirectoryWatch::tell_soon() {
    timer_.expires_after(reported_after);
    timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        for (const std::string& name : std::exchange(names_, {})) removed_(name);
    });
}

}  // namespace bullring
