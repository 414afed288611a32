// Owns: the user's callbacks for changes of the leadership, and the one thread that calls them. It
// begins with the first of them. A slow callback holds up others, and nothing else.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <bullring/leader.hpp>

namespace bullring {

class Subscribers : public std::enable_shared_from_this<Subscribers> {
public:
    static constexpr std::size_t waiting_max = 1024;

    Subscribers() = default;
    Subscribers(const Subscribers&) = delete;
    Subscribers& operator=(const Subscribers&) = delete;
    /// finish() has been called.
    ~Subscribers() = default;

    /// `first` goes to the new one alone. Throws std::invalid_argument for an empty callback.
    Subscription add(ChangeCallback callback, Change first);
    void push(Change change);
    /// Delivers the changes that wait, and none later. Not from a callback.
    void finish();

private:
    using Id = std::uint64_t;
    /// For those of the ids from `first` to `last`: who has come later knows more already.
    struct Waiting {
        Change change;
        Id first = 0;
        Id last = 0;
    };

    void remove(Id id);
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Id, std::shared_ptr<ChangeCallback>> callbacks_;
    std::deque<Waiting> waiting_;
    std::uint64_t missed_ = 0;
    Id last_ = 0;
    Id running_ = 0;  // whose callback is being called
    bool finishing_ = false;
    std::thread thread_;
};

}  // namespace bullring
