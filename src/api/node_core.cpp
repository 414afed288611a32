#include "src/api/node_core.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <asio/post.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "protocol/values/timing.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/watch/keeper_settings.hpp"

namespace bullring {

using protocol::Epoch;
using protocol::Instant;

namespace {

constexpr protocol::Duration lock_wait = protocol::seconds(1);

std::chrono::nanoseconds nanoseconds_of(protocol::Duration duration) {
    return std::chrono::nanoseconds(duration.ns);
}

/// Hands the exception that is being handled to the user.
void tell_error(const std::function<void(std::exception_ptr)>& on_error) {
    try {
        on_error(std::current_exception());
    } catch (...) {
        log(LogLevel::error, "on_error has thrown an exception, which is ignored");
    }
}

}  // namespace

/// Carries what the loop says to the control thread; only the end of the lease is written at once.
class NodeCore::Host final : public TaskHost, private NodeListener {
public:
    Host(NodeCore& core, NodeLink& node) : core_(core) { node.listen(*this); }

    void start(Epoch epoch) override {
        later([epoch](NodeCore& core) { core.on_start(epoch); });
    }
    void stop(Epoch epoch, protocol::DeposedReason) override {
        later([epoch](NodeCore& core) { core.on_stop(epoch); });
    }
    void publish(const protocol::Publish& publish) override {
        core_.page_->write({publish.epoch, publish.deadline});
    }

private:
    void leader_changed(Instant at, const protocol::LeaderChanged& change) override {
        later([at, change](NodeCore& core) { core.on_leader(at, change); });
    }
    void elected(Instant at, const protocol::Elected& elected) override {
        later([change = change(Change::Kind::elected, at, elected.epoch, "")](NodeCore& core) {
            core.on_elected(change);
        });
    }
    void deposed(Instant at, const protocol::Deposed& deposed) override {
        const char* const reason = protocol::name(deposed.reason);
        later([change = change(Change::Kind::deposed, at, deposed.epoch, reason)](NodeCore& core) {
            core.on_deposed(change);
        });
    }
    void members_changed(Instant at, const protocol::MembersChanged& changed) override {
        if (changed.members.changed()) later([at](NodeCore& core) { core.on_members(at); });
    }
    void resign_answered(const protocol::ResignAnswer& answer) override {
        if (!answer.done) core_.refused_ = answer;
        later([answer](NodeCore& core) { core.on_resign_answer(answer); });
    }

    template <class Work>
    void later(Work work) {
        asio::post(core_.control_, [&core = core_, work = std::move(work)] { work(core); });
    }
    static Change change(Change::Kind kind, Instant at, Epoch epoch, const char* reason) {
        Change change;
        change.kind = kind;
        change.at = std::chrono::nanoseconds(at.boottime_ns);
        change.epoch = epoch.value;
        change.reason = reason;
        return change;
    }

    NodeCore& core_;
};

NodeCore::NodeCore(LibraryOptions options) : options_(std::move(options)) {}

NodeCore::~NodeCore() {
    try {
        stop();
    } catch (...) {
        // Only stop() reports an exception of the task, and it was not called.
    }
    if (control_work_) control_work_.reset();
    control_.stop();
    if (control_thread_.joinable()) control_thread_.join();
    subscribers_->finish();
}

// ---- Life.

void NodeCore::start() {
    const auto started = [this] {
        const std::lock_guard lock(mutex_);
        return life_ != Life::fresh;
    };
    // First without the other mutex, which stop() holds while it waits for the task.
    if (started()) return;
    const std::lock_guard life(life_mutex_);
    if (started()) return;
    try {
        open();
        start_threads();
    } catch (...) {
        const std::lock_guard lock(mutex_);
        life_ = Life::fresh;
        joiner_.reset();
        runtime_.reset();
        undertaker_.reset();
        http_.reset();
        opened_.reset();
        throw;
    }
}

void NodeCore::start_threads() {
    if (!control_work_) control_work_.emplace(control_.get_executor());
    if (!control_thread_.joinable()) {
        control_thread_ = quiet_thread([this] {
            log_as(options_.node.config.self);
            control_.run();
        });
    }
    {
        const std::lock_guard lock(mutex_);
        life_ = Life::running;
        control_id_ = control_thread_.get_id();
    }
    if (http_) http_->start(opened_->security, opened_->trail);
    loop_thread_ = quiet_thread([this] { run_loop(); });
}

void NodeCore::open() {
    const bool first_process = ::getpid() == 1;
    if (first_process && options_.node.hang_after.ns > 0)
        throw NodeError(
            "hang_after: this program is the first process of its container, and nothing inside of "
            "it can kill that; expected an init above it (docker run --init, or tini), or no "
            "hang_after");
    // A copy of this process: before its keys are read.
    if (options_.node.config.tells_of_its_end()) {
        const protocol::Timing& timing = options_.node.config.timing;
        undertaker_.emplace(Undertaker::Settings{.patience = timing.promise(timing.lease)});
        if (!undertaker_->start()) log(LogLevel::warn, no_undertaker);
        if (first_process)
            log(LogLevel::warn,
                "this program is the first process of its container, with which all others of it "
                "end: nobody reports to the other members when it is killed, and they wait for "
                "the end of its lease; start it below an init (docker run --init, or tini)");
    }
    auto opened = open_node(options_.node, lock_wait);
    if (!opened) {
        if (opened.error().wrong_setting) throw ConfigError({opened.error().what});
        throw NodeError(opened.error().what);
    }
    opened_.emplace(std::move(*opened));
    auto http = HttpEndpoint::open(options_.node, opened_->parts.start);
    if (!http) throw NodeError(http.error());
    http_ = std::move(*http);
    if (http_) opened_->parts.showcase = &http_->showcase();
    opened_->parts.handles_signals = false;
    opened_->parts.tell_failure = [this](const std::string& what) {
        const std::lock_guard lock(mutex_);
        failure_ = what;
    };
    opened_->parts.make_host = [this](asio::io_context&, NodeLink& node) {
        return std::make_unique<Host>(*this, node);
    };
    if (options_.node.hang_after.ns > 0) {
        keeper_.emplace(pulse_, keeper_settings(options_.node, "hang_after"));
        opened_->parts.pulse = &pulse_;
        opened_->parts.keeper = &*keeper_;
    }
    if (undertaker_) opened_->parts.undertaker = &*undertaker_;
    const protocol::Incarnation incarnation = opened_->parts.start.incarnation;
    KnownCluster known = known_by(opened_->parts.start.file, options_.node);
    auto runtime = std::make_unique<Runtime>(options_.node, std::move(opened_->parts));
    if (!options_.node.join.empty()) {
        joiner_ = std::make_unique<Joiner>(options_.node, incarnation, std::move(known),
                                           opened_->security, *runtime);
        runtime->listen(*joiner_);
    }
    const std::lock_guard lock(mutex_);
    runtime_ = std::move(runtime);
}

void NodeCore::run_loop() {
    log_as(options_.node.config.self);
    if (keeper_ && !keeper_->start())
        log(LogLevel::warn, "cannot start the process that watches this one: hang_after is off");
    int status = 1;
    try {
        status = runtime_->run();
    } catch (const std::exception& error) {
        const std::lock_guard lock(mutex_);
        failure_ = failure_text(error);
    }
    if (keeper_) keeper_->stop();
    loop_ended_ = true;
    // If the loop has failed, its sessions stay open until the task has returned: their end would
    // let another one lead.
    page_->write({});
    asio::post(control_, [this, status] { on_over(status); });
}

bool NodeCore::must_not_wait() const {
    const std::lock_guard lock(mutex_);
    const std::thread::id self = std::this_thread::get_id();
    return (taken_ && task_thread_ == self) || runner_ == self || control_id_ == self;
}

void NodeCore::stop() {
    if (must_not_wait()) {
        const std::lock_guard lock(mutex_);
        if (runtime_) runtime_->shut_down("stop() was called");
        return;
    }
    const std::lock_guard life(life_mutex_);
    if (!runtime_) {
        const std::lock_guard lock(mutex_);
        life_ = Life::over;
        changed_.notify_all();
    } else {
        runtime_->shut_down("stop() was called");
        loop_thread_.join();
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return life_ == Life::over && !taken_; });
        // Nobody asks the loop any more, and no session has anything to keep open.
        lock.unlock();
        if (runner_thread_.joinable()) runner_thread_.join();
        joiner_.reset();
        lock.lock();
        runtime_.reset();
        undertaker_.reset();
        http_.reset();
        opened_.reset();
    }
    if (runner_thread_.joinable()) runner_thread_.join();
    if (runner_error_) std::rethrow_exception(std::exchange(runner_error_, nullptr));
}

void NodeCore::throw_if_failed() const {
    const std::lock_guard lock(mutex_);
    if (life_ == Life::over && !failure_.empty()) throw NodeError(failure_);
}

// ---- The task.

void NodeCore::run_while_leader(const Node::Task& task) {
    begin_running();
    start_for_task();
    work(task);
    throw_if_failed();
}

void NodeCore::start_for_task() {
    try {
        start();
    } catch (...) {
        end_running(false);
        throw;
    }
}

void NodeCore::work(const Node::Task& task) {
    try {
        while (const StatePtr state = take()) {
            try {
                task(Leadership(state));
            } catch (...) {
                give_back(state, true);
                throw;
            }
            give_back(state, false);
        }
    } catch (...) {
        end_running(true);
        throw;
    }
    end_running(false);
}

void NodeCore::refuse_without_majority() const {
    if (options_.node.config.quorum == protocol::QuorumMode::none)
        throw ConfigError(
            {"quorum: a task can't be run with none, where two nodes may lead at "
             "once; use majority"});
}

void NodeCore::start_while_leader(Node::Task task,
                                  std::function<void(std::exception_ptr)> on_error) {
    if (must_not_wait())
        throw std::logic_error("bullring: a task can't be started from within another one");
    begin_running();
    start_for_task();
    const std::lock_guard life(life_mutex_);
    if (runner_thread_.joinable()) runner_thread_.join();  // of a task that has failed
    runner_thread_ = quiet_thread([this, task = std::move(task), on_error = std::move(on_error)] {
        {
            const std::lock_guard lock(mutex_);
            runner_ = std::this_thread::get_id();
        }
        try {
            work(task);
            throw_if_failed();
        } catch (...) {
            if (on_error) {
                tell_error(on_error);
            } else {
                runner_error_ = std::current_exception();
                if (runtime_) runtime_->shut_down("its task has failed");
            }
        }
        // Another thread may get the same number.
        const std::lock_guard lock(mutex_);
        runner_ = {};
    });
}

void NodeCore::begin_running() {
    refuse_without_majority();
    const std::lock_guard lock(mutex_);
    if (running_) throw std::logic_error("bullring: a task is already running");
    running_ = true;
    if (runtime_) runtime_->set_willing(true, "");
}

void NodeCore::end_running(bool failed) {
    const std::lock_guard lock(mutex_);
    running_ = false;
    // A leader without anybody to do the work would be in the way of others.
    if (failed && runtime_) runtime_->set_willing(false, "its task has failed");
}

NodeCore::StatePtr NodeCore::take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return life_ == Life::over || (current_ && !taken_); });
    if (life_ == Life::over) return nullptr;
    StatePtr state = current_;
    state->report_progress();
    // First what can fail: then it can still be taken.
    if (options_.stall_after.ns > 0) asio::post(control_, [this, state] { watch_progress(state); });
    taken_ = true;
    if (runtime_) runtime_->task_runs(true, {});
    task_thread_ = std::this_thread::get_id();
    return state;
}

void NodeCore::give_back(const StatePtr& state, bool failed) {
    const bool by_itself = !state->stop.stop_requested();
    const std::lock_guard lock(mutex_);
    const bool runs = runtime_ && life_ != Life::over;
    // First what can fail: then it is as if nothing had been given back. The lease is let go before
    // it is said whether this node asks for another.
    if (runs) runtime_->tell(protocol::TaskEnded{state->epoch, by_itself, by_itself && failed});
    taken_ = false;
    if (runtime_)
        runtime_->task_runs(false, !by_itself ? "" : failed ? "it has failed" : "it has returned");
    current_.reset();
    changed_.notify_all();
    if (!runs || !by_itself || failed) return;
    stand_aside("its task has returned");
}

void NodeCore::stand_aside(const char* why) {
    runtime_->set_willing(
        false, fmt::format("{}; it stands again after {}", why, to_text(options_.restart_delay)));
    asio::post(control_, [this] {
        aside_timer_.expires_after(nanoseconds_of(options_.restart_delay));
        aside_timer_.async_wait([this](const asio::error_code& error) {
            const std::lock_guard lock(mutex_);
            if (!error && runtime_ && life_ == Life::running) runtime_->set_willing(true, "");
        });
    });
}

}  // namespace bullring
