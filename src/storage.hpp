// Owns: the thread that writes the durable state. One write after the other; what is asked for while
// one is under way waits. The callbacks come from that thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "src/state_file.hpp"

namespace bullring {

class Storage {
public:
    struct Callbacks {
        std::function<void(const protocol::Durable&)> done;  // on the disk
        std::function<void(const std::string&)> failed;      // nothing more will be written
    };

    Storage(StateDirectory directory, Callbacks callbacks);
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    /// Waits for the write that is under way; what is queued after it is not written.
    ~Storage();

    /// Any thread; never waits for the disk.
    void write(const protocol::Durable& durable);

private:
    void run();

    StateDirectory directory_;
    Callbacks callbacks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<protocol::Durable> queue_;  // bounded by the protocol: one write at a time
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace bullring
