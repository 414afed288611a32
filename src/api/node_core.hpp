// Owns: the body of the library's Node. Three threads: the node's loop, which never waits for the
// user; the control thread, which asks for stops, so that the user's stop callbacks run in no
// election; and the one in which the task runs. What the user can ask for is guarded by a mutex
// that the loop never takes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <bullring/node.hpp>

#include "src/api/leadership_state.hpp"
#include "src/api/option_values.hpp"
#include "src/api/subscribers.hpp"
#include "src/http/endpoint.hpp"
#include "src/node/open_node.hpp"
#include "src/observe/joiner.hpp"

namespace bullring {

class NodeCore {
public:
    using StatePtr = std::shared_ptr<Leadership::State>;

    explicit NodeCore(LibraryOptions options);
    NodeCore(const NodeCore&) = delete;
    NodeCore& operator=(const NodeCore&) = delete;
    ~NodeCore();

    void start();
    void stop();
    void run_while_leader(const Node::Task& task);
    void start_while_leader(Node::Task task, std::function<void(std::exception_ptr)> on_error);

    std::optional<Leader> leader() const;
    Subscription subscribe(ChangeCallback callback);
    Resignation resign(std::uint64_t to, std::chrono::nanoseconds timeout);
    Status status() const;
    MemberList members() const;
    Administrator administrator() const;

    // ---- What a task's runner needs. One runner at a time: begin_running() … end_running().

    void begin_running();
    void end_running(bool failed);
    /// The next leadership to work under; nullptr when the node has ended.
    StatePtr take();
    /// Nothing works under it any more.
    void give_back(const StatePtr& state, bool failed);
    /// Throws NodeError when the node has ended, but not by stop().
    void throw_if_failed() const;
    static Leadership leadership(StatePtr state) { return Leadership(std::move(state)); }

private:
    class Host;
    enum class Life { fresh, running, over };

    void open();
    void start_threads();
    void start_for_task();
    void work(const Node::Task& task);
    void run_loop();
    /// For the task, or for its stop: this thread is one that has to get on before it can be.
    bool must_not_wait() const;
    void refuse_without_majority() const;
    /// Without waiting for anything but the loop, which refuses at once what it can't begin.
    Resignation ask_to_resign(std::uint64_t to);
    /// `ask` makes the question, which the loop's thread answers after all earlier events.
    /// nullopt when there is no loop. Any thread but the loop's.
    template <class Value, class Ask>
    std::optional<Value> ask_loop(Ask ask) const;

    // In the control thread.
    void on_start(protocol::Epoch epoch);
    void on_stop(protocol::Epoch epoch);
    void on_leader(protocol::Instant at, const protocol::LeaderChanged& change);
    void on_resign_answer(const protocol::ResignAnswer& answer);
    void on_elected(Change change);
    void on_deposed(Change change);
    void on_members(protocol::Instant at);
    void on_over(int status);
    /// Under `mutex_`, so that the order is the same for all. It makes `leader` what holds now.
    void push_change(Change change);
    void watch_progress(const StatePtr& state);
    void stand_aside(const char* why);

    LibraryOptions options_;
    std::shared_ptr<LeasePage> page_ = make_private_lease_page();
    std::shared_ptr<Subscribers> subscribers_ = std::make_shared<Subscribers>();

    asio::io_context control_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> control_work_;
    asio::steady_timer progress_timer_{control_};
    asio::steady_timer overdue_timer_{control_};
    asio::steady_timer aside_timer_{control_};

    std::mutex life_mutex_;  // start() and stop() from several threads
    LoopPulse pulse_;
    std::optional<Undertaker> undertaker_;  // of a node that reports its end
    std::optional<Keeper> keeper_;          // with hang_after; runs as long as the loop
    std::optional<OpenedNode> opened_;
    std::unique_ptr<HttpEndpoint> http_;  // if it is asked for
    std::unique_ptr<Runtime> runtime_;    // from start() to the end of stop()
    std::unique_ptr<Joiner> joiner_;      // of a node that asks to be added; as long as that
    std::thread loop_thread_;
    std::atomic<bool> loop_ended_{false};
    std::thread control_thread_;
    std::thread runner_thread_;
    std::exception_ptr runner_error_;

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    Life life_ = Life::fresh;
    std::string failure_;
    std::optional<Leader> leader_;
    std::optional<Leader> reported_leader_;  // by the last Change of kind `leader`
    std::uint64_t reported_epoch_ = 0;       // of the same
    StatePtr current_;                       // the leadership, until nothing works under it
    bool taken_ = false;                     // a task works under it
    bool running_ = false;
    std::thread::id task_thread_;
    std::thread::id runner_;
    std::thread::id control_id_;
    std::map<std::uint64_t, Resignation*> resigns_;
    std::uint64_t last_resign_ = 0;

    std::optional<protocol::ResignAnswer> refused_;  // the last one; the loop's thread alone
};

}  // namespace bullring
