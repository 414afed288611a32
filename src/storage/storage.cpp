#include "src/storage/storage.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "src/os/clock.hpp"
#include "src/os/quiet_thread.hpp"
#include "src/report/logging.hpp"

namespace bullring {

Storage::Storage(StateDirectory directory, Callbacks callbacks, DurationCounts* durations)
    : directory_(std::move(directory)), callbacks_(std::move(callbacks)), durations_(durations) {}

Storage::~Storage() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    if (thread_.joinable()) thread_.join();
}

void Storage::write(const protocol::Durable& durable) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        queue_.push_back(durable);
        if (running_) return;
        running_ = true;
    }
    if (thread_.joinable()) thread_.join();  // it has seen an empty queue and is over
    try {
        thread_ = quiet_thread([this] { run(); });
    } catch (const std::system_error& error) {
        log_limited(LogLevel::warn, "no thread for the state", {},
                    fmt::format("cannot start a thread ({}): this node pauses while its state is "
                                "written",
                                error.code().message()));
        run();
    }
}

void Storage::run() {
    while (true) {
        protocol::Durable durable;
        {
            const std::lock_guard lock(mutex_);
            if (stopping_ || queue_.empty()) {
                running_ = false;
                return;
            }
            durable = queue_.front();
            queue_.pop_front();
        }
        const protocol::Instant begun = read_clock();
        const auto saved = directory_.save(durable);
        if (durations_ != nullptr) durations_->add(protocol::elapsed(begun, read_clock()));
        if (!saved) {
            {
                const std::lock_guard lock(mutex_);
                stopping_ = true;
            }
            callbacks_.failed(saved.error());
            return;
        }
        callbacks_.done(durable);
    }
}

}  // namespace bullring
