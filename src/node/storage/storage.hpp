// Owns: the writing of the durable state, in a thread that exists only while there is something to
// write: writes are rare, and when a process dies every idle thread of it delays its FIN. Writes
// are done one after the other; one that is asked for while another is under way waits. The
// callbacks come from that thread, or from within write() if the system cannot start a thread.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "src/node/metrics/counts.hpp"
#include "src/node/storage/state_file.hpp"

namespace bullring {

class Storage {
public:
    /// The directory that the path leads to.
    struct Place {
        std::string misplaced;  // why it is another one, and what follows; empty: it is not
        bool held = true;       // this process alone may use what is there
    };
    struct Callbacks {
        std::function<void(const protocol::Durable&)> done;  // on the disk
        std::function<void(const std::string&)> failed;      // nothing more will be written
        std::function<void(const Place&)> looked;            // after look()
    };

    /// `last`: what is in the file. `durations`: of the writes, to be counted by the thread that
    /// writes; null: they are not.
    Storage(StateDirectory directory, std::optional<protocol::Durable> last, Callbacks callbacks,
            DurationCounts* durations = nullptr);
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    /// Waits for the write that is under way; what is queued after it is not written.
    ~Storage();

    /// One thread. Waits for the disk only where the system has no more threads: a node that is
    /// late is better than none.
    void write(const protocol::Durable& durable) { add(durable); }
    /// For when somebody else may have removed files of the directory, or mounted something over
    /// it: puts back what is gone, and says so in the log. Where the path leads to another
    /// directory the state is kept there as well, unless it has a newer one: the next start must
    /// not go on with an older one.
    void look() { add(std::nullopt); }

private:
    using Task = std::optional<protocol::Durable>;  // to be written; none: look()

    void add(const Task& task);
    void run();
    tl::expected<void, std::string> carry_out(const Task& task);
    tl::expected<void, std::string> put_back();
    tl::expected<void, std::string> save(const protocol::Durable& durable);
    Place look_at_path();
    tl::expected<void, std::string> hold_what_is_at_path();

    StateDirectory directory_;
    // The thread's, while it runs.
    std::optional<StateDirectory> at_path_;  // if it is another one that takes the state
    std::optional<protocol::Durable> last_;
    Callbacks callbacks_;
    DurationCounts* durations_;
    std::mutex mutex_;
    std::deque<Task> queue_;  // short: one write at a time, and seldom another task
    bool running_ = false;    // the thread will look at the queue once more
    bool stopping_ = false;   // or a write has failed
    std::thread thread_;
};

}  // namespace bullring
