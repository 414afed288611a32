// Owns: the thread that writes lines to files and pipes for the node's thread, which never does.
// Its queue is bounded: a stream whose reader or disk is too slow is ended with one error line in
// the log, and never makes an election slow.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <tl/expected.hpp>

#include "src/net/owned_fd.hpp"

namespace bullring {

class BackgroundWriter {
public:
    BackgroundWriter();
    BackgroundWriter(const BackgroundWriter&) = delete;
    BackgroundWriter& operator=(const BackgroundWriter&) = delete;
    /// Writes what is queued, for at most a second.
    ~BackgroundWriter();

    using StreamId = std::size_t;

    /// Opens for appending; "-" is stdout. `what` names the stream in error lines. Before the first
    /// write only.
    tl::expected<StreamId, std::string> open(const std::string& path, const std::string& what);
    /// One whole line, its end included. Never waits.
    void write(StreamId stream, std::string line);
    /// Opens the files again by their names, for those who rotate them.
    void reopen();

private:
    struct Stream {
        std::string path;
        std::string what;
        OwnedFd fd;         // not for stdout
        bool dead = false;  // under `mutex_`
    };
    struct Line {
        StreamId stream;
        std::string text;
    };

    void run();
    void write_line(Stream& stream, const std::string& text);
    void reopen_now();
    void end(Stream& stream, const std::string& why);

    std::vector<std::unique_ptr<Stream>> streams_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Line> queue_;
    std::size_t queued_bytes_ = 0;
    bool reopen_ = false;
    bool stopping_ = false;
    std::int64_t give_up_at_ns_ = INT64_MAX;  // set with `stopping_`
    std::thread thread_;
};

}  // namespace bullring
