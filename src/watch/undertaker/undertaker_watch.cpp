#include "src/watch/undertaker/undertaker_watch.hpp"

#include <chrono>

#include <fcntl.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/os/readiness.hpp"
#include "src/base/os/sanitizers.hpp"

namespace bullring {

namespace {

/// The next one, if it dies at once, too, or cannot be started.
constexpr std::chrono::seconds look_again_after{1};

}  // namespace

UndertakerWatch::UndertakerWatch(asio::io_context& io, Undertaker& undertaker, LoopPulse& pulse)
    : io_(io), undertaker_(undertaker), pulse_(pulse), timer_(io) {
    if constexpr (!thread_sanitizer) wait_for_end();  // else there is none
}

void UndertakerWatch::wait_for_end() {
    if (undertaker_.descriptor() < 0) return replace();
    OwnedFd watched(::fcntl(undertaker_.descriptor(), F_DUPFD_CLOEXEC, 0));
    if (!watched) return look_again();  // no descriptor is left
    end_.emplace(io_, watched.release());
    listen();
}

void UndertakerWatch::listen() {
    end_->async_wait(asio::posix::descriptor_base::wait_read,
                     [this](const asio::error_code& error) {
                         if (error) return;
                         if (!is_ready(end_->native_handle())) return listen();
                         replace();
                     });
}

// N5.1
void UndertakerWatch::replace() {
    end_.reset();
    // The larger this process is, the longer it takes to copy it.
    const bool started = [this] {
        const LoopPulse::Excuse excuse(pulse_);
        return undertaker_.start();
    }();
    log_limited(LogLevel::warn, "undertaker", {},
                started ? "started another process that reports the end of this one to the others"
                        : no_undertaker);
    look_again();
}

void UndertakerWatch::look_again() {
    timer_.expires_after(look_again_after);
    timer_.async_wait([this](const asio::error_code& error) {
        if (!error) wait_for_end();
    });
}

}  // namespace bullring
