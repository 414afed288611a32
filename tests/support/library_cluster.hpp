// Nodes of the library in one process, on loopback ports that nobody else gets.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <bullring/bullring.hpp>

#include "src/base/os/owned_fd.hpp"
#include "tests/support/generous.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::test {

class LibraryCluster {
public:
    /// Without preemption whoever comes first leads, and that may be any. A test for which the
    /// highest must lead starts the two highest first: the second one hands over to it.
    enum class Leads { whoever_comes_first, the_highest };

    explicit LibraryCluster(std::uint64_t nodes, Leads leads = Leads::whoever_comes_first);

    std::uint64_t size() const { return size_; }
    /// The options of node `id`: fast, and a task that returns stands again at once.
    Options options(std::uint64_t id) const;
    std::unique_ptr<Node> node(std::uint64_t id) const {
        return std::make_unique<Node>(options(id));
    }
    std::string peers() const { return peers(size_); }
    /// The first `count` of them.
    std::string peers(std::uint64_t count) const;
    std::string address(std::uint64_t id) const {
        return "127.0.0.1:" + std::to_string(ports_[id - 1].port);
    }
    const TemporaryDirectory& directory() const { return directory_; }

private:
    struct HeldPort {
        OwnedFd socket;
        int port;
    };
    static HeldPort hold_port();

    std::uint64_t size_;
    Leads leads_;
    std::vector<HeldPort> ports_;  // of node 1, 2, …
    TemporaryDirectory directory_;
};

/// The others say in their heartbeats that they can take over; before that it is refused. A node
/// that does not lead is asked once.
Resignation resign_when_possible(Node& node, std::chrono::nanoseconds timeout);

/// Something that threads write down and wait for.
template <class Value>
class Notes {
public:
    void add(Value value) {
        const std::lock_guard lock(mutex_);
        values_.push_back(std::move(value));
        changed_.notify_all();
    }
    std::vector<Value> all() const {
        const std::lock_guard lock(mutex_);
        return values_;
    }
    /// False when it has not come true in time.
    bool wait_for(const std::function<bool(const std::vector<Value>&)>& predicate) const {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, generous, [&] { return predicate(values_); });
    }
    bool wait_for_count(std::size_t count) const {
        return wait_for([count](const auto& values) { return values.size() >= count; });
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<Value> values_;
};

}  // namespace bullring::test
