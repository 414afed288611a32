#include "src/node/storage/storage.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/text/failure_text.hpp"

namespace bullring {

Storage::Storage(StateDirectory directory, std::optional<protocol::Durable> last,
                 Callbacks callbacks, DurationCounts* durations)
    : directory_(std::move(directory)),
      last_(last),
      callbacks_(std::move(callbacks)),
      durations_(durations) {}

Storage::~Storage() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    if (thread_.joinable()) thread_.join();
}

void Storage::add(const Task& task) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        queue_.push_back(task);
        if (running_) return;
        running_ = true;
    }
    if (thread_.joinable()) thread_.join();  // it has seen an empty queue and is over
    try {
        thread_ = quiet_thread([this] { run(); });
    } catch (const std::system_error& error) {
        log_limited(LogLevel::warn, "no thread for the state", {},
                    failure_text(error) + ": this node pauses while its state is written");
        run();
    }
}

void Storage::run() {
    while (true) {
        Task task;
        {
            const std::lock_guard lock(mutex_);
            if (stopping_ || queue_.empty()) {
                running_ = false;
                return;
            }
            task = queue_.front();
            queue_.pop_front();
        }
        const auto done = carry_out(task);
        if (!done) {
            {
                const std::lock_guard lock(mutex_);
                stopping_ = true;
            }
            callbacks_.failed(done.error());
            return;
        }
        if (task) callbacks_.done(*task);
    }
}

tl::expected<void, std::string> Storage::carry_out(const Task& task) {
    if (!task) {
        const auto done = directory_.put_back(last_);
        if (!done) return tl::unexpected(done.error());
        for (const std::string& problem : done->problems)
            log(LogLevel::warn, "a file was removed from the data directory: " + problem);
        for (const std::string& name : done->names)
            log(LogLevel::warn, fmt::format("somebody has removed the file {} from the data "
                                            "directory; it is there again",
                                            name));
        return {};
    }
    const protocol::Instant begun = read_clock();
    auto saved = directory_.save(*task);
    if (durations_ != nullptr) durations_->add(protocol::elapsed(begun, read_clock()));
    last_ = *task;
    return saved;
}

}  // namespace bullring
