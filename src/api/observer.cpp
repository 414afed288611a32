// Owns: the thread and the state behind an Observer.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <bullring/observer.hpp>

#include "src/api/deadline.hpp"
#include "src/api/observer_settings.hpp"
#include "src/api/subscribers.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/watcher.hpp"

namespace bullring {

/// One thread runs the watcher's loop; what the user can ask for stands under a mutex.
class ObserverCore {
public:
    explicit ObserverCore(const ObserverOptions& options)
        : watcher_(loop_, options.peers, options.cluster,
                   {[this](const ObserverChange& change) { on_change(change); },
                    [](protocol::NodeId id, const std::string& address, const std::string& why) {
                        log_limited(
                            LogLevel::warn, "refused", {address},
                            "member " + std::to_string(id.value) + " at " + address + ": " + why);
                    },
                    [] { log(LogLevel::warn, "no member can be reached; still trying"); }, [] {}}) {
        if (const auto secured =
                loop_.secure(options.security, {options.cluster, protocol::nobody});
            !secured)
            throw ConfigError({secured.error()});
        asio::co_spawn(loop_.io, watcher_.run(), [](const std::exception_ptr& failure) {
            if (failure) std::rethrow_exception(failure);
        });
        thread_ = quiet_thread([this] { loop_.io.run(); });
    }
    ObserverCore(const ObserverCore&) = delete;
    ObserverCore& operator=(const ObserverCore&) = delete;
    ~ObserverCore() {
        asio::post(loop_.io, [this] { watcher_.stop(); });
        thread_.join();
        subscribers_->finish();
    }

    std::optional<Leader> leader() const {
        const std::lock_guard lock(mutex_);
        return leader_;
    }

    std::optional<Leader> wait_for_leader(std::chrono::nanoseconds timeout) const {
        std::unique_lock lock(mutex_);
        changed_.wait_until(lock, deadline_after(timeout), [this] { return leader_.has_value(); });
        return leader_;
    }

    Subscription subscribe(ChangeCallback callback) {
        const std::lock_guard lock(mutex_);
        return subscribers_->add(std::move(callback), now_);
    }

private:
    void on_change(const ObserverChange& change) {
        const std::lock_guard lock(mutex_);
        leader_.reset();
        if (change.leader)
            leader_ = Leader{change.leader.value, change.epoch.value, change.advertised};
        now_.at = std::chrono::nanoseconds(change.ts_ns);
        now_.leader = leader_;
        now_.epoch = change.epoch.value;
        changed_.notify_all();
        subscribers_->push(now_);
    }

    ObserverLoop loop_;
    Watcher watcher_;
    std::shared_ptr<Subscribers> subscribers_ = std::make_shared<Subscribers>();
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::optional<Leader> leader_;
    Change now_;
    std::thread thread_;
};

Observer::Observer(const std::string& peers, const std::string& cluster)
    : Observer(peers, cluster, ObserverSecurity{}) {}

Observer::Observer(const std::string& peers, const std::string& cluster,
                   const ObserverSecurity& security) {
    core_ = std::make_unique<ObserverCore>(observer_settings("watch", peers, cluster, security));
}

Observer::Observer(Observer&&) noexcept = default;
Observer& Observer::operator=(Observer&&) noexcept = default;
Observer::~Observer() = default;

std::optional<Leader> Observer::leader() const { return core_->leader(); }
std::optional<Leader> Observer::wait_for_leader(std::chrono::nanoseconds timeout) const {
    return core_->wait_for_leader(timeout);
}
Subscription Observer::subscribe(ChangeCallback callback) {
    return core_->subscribe(std::move(callback));
}

}  // namespace bullring
