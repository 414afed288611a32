#include "src/storage.hpp"

#include <utility>

namespace bullring {

Storage::Storage(StateDirectory directory, Callbacks callbacks)
    : directory_(std::move(directory)), callbacks_(std::move(callbacks)), thread_([this] { run(); }) {}

Storage::~Storage() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Storage::write(const protocol::Durable& durable) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(durable);
    }
    changed_.notify_one();
}

void Storage::run() {
    while (true) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) return;
        const protocol::Durable durable = queue_.front();
        queue_.pop_front();
        lock.unlock();
        if (const auto saved = directory_.save(durable); !saved) {
            callbacks_.failed(saved.error());
            return;
        }
        callbacks_.done(durable);
    }
}

}  // namespace bullring
