#include "src/api/subscribers.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "src/base/log/logging.hpp"
#include "src/base/os/quiet_thread.hpp"

namespace bullring {

namespace {

/// An exception of a callback concerns no other callback, and no election.
void call(const ChangeCallback& callback, const Change& change) {
    try {
        callback(change);
    } catch (const std::exception& error) {
        log(LogLevel::error,
            std::string("a subscriber's callback has thrown an exception: ") + error.what());
    } catch (...) {
        log(LogLevel::error,
            "a subscriber's callback has thrown something other than a std::exception");
    }
}

}  // namespace

Subscription Subscribers::add(ChangeCallback callback, Change first) {
    if (!callback) throw std::invalid_argument("bullring: a subscriber's callback is empty");
    // Made first: where there is no memory left for it, nobody would ever end the callback.
    Subscription made;
    const std::lock_guard lock(mutex_);
    if (finishing_) return made;
    const Id id = ++last_;
    made = Subscription([self = shared_from_this(), id] { self->remove(id); });
    callbacks_[id] = std::make_shared<ChangeCallback>(std::move(callback));
    waiting_.push_back({std::move(first), id, id});
    if (!thread_.joinable()) thread_ = quiet_thread([this] { run(); });
    changed_.notify_all();
    return made;
}

void Subscribers::push(Change change) {
    const std::lock_guard lock(mutex_);
    if (callbacks_.empty() || finishing_) return;
    if (waiting_.size() >= waiting_max) {
        waiting_.pop_front();
        ++missed_;
    }
    waiting_.push_back({std::move(change), 1, last_});
    changed_.notify_all();
}

void Subscribers::remove(Id id) {
    std::unique_lock lock(mutex_);
    callbacks_.erase(id);
    if (std::this_thread::get_id() == thread_.get_id()) return;
    changed_.wait(lock, [&] { return running_ != id; });
}

void Subscribers::finish() {
    {
        const std::lock_guard lock(mutex_);
        finishing_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void Subscribers::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return finishing_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        next.change.missed = std::exchange(missed_, 0);
        std::vector<Id> ids;
        for (const auto& [id, callback] : callbacks_)
            if (id >= next.first && id <= next.last) ids.push_back(id);
        for (const Id id : ids) {
            const auto found = callbacks_.find(id);
            if (found == callbacks_.end()) continue;
            const std::shared_ptr<ChangeCallback> callback = found->second;
            running_ = id;
            lock.unlock();
            call(*callback, next.change);
            lock.lock();
            running_ = 0;
            changed_.notify_all();
        }
    }
}

}  // namespace bullring
