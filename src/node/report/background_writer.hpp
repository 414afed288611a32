// Owns: the thread that writes lines to files and pipes for the node's thread, which never does.
// Its queue is bounded: lines of a stream whose reader or disk is too slow are lost (LineStream),
// and never make an election slow.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <tl/expected.hpp>

#include "src/node/report/line_stream.hpp"

namespace bullring {

class BackgroundWriter {
public:
    BackgroundWriter();
    BackgroundWriter(const BackgroundWriter&) = delete;
    BackgroundWriter& operator=(const BackgroundWriter&) = delete;
    /// Writes what is queued, for at most a second. A thread that a write still blocks then (stdout
    /// is shared with others, so it can't be made non-blocking) is left behind.
    ~BackgroundWriter();

    using StreamId = std::size_t;

    /// Opens for appending, as LineStream does. Before the first write only.
    tl::expected<StreamId, std::string> open(const std::string& path, const std::string& what,
                                             LineStream::GapLine gap_line = {});
    /// For what any thread may ask it.
    const LineStream& stream(StreamId id) const;
    /// Set in the thread.
    struct Mark {
        std::atomic<std::uint64_t>* where = nullptr;  // none: there is no mark
        std::uint64_t value = 0;
        void set() const {
            if (where != nullptr) where->store(value);
        }
    };
    struct Marks {
        Mark before;  // right before the line is written
        Mark after;   // right after it; not when it can't be written
    };
    /// One whole line, its end included. Never waits.
    void write(StreamId stream, std::string line, const Marks& marks);
    void write(StreamId stream, std::string line) { write(stream, std::move(line), Marks()); }
    /// Waits until all of that is written, or for so long: for who is about to be killed.
    void drain(std::chrono::milliseconds patience);
    /// Opens the files again by their names, for those who rotate them.
    void reopen();
    /// The same for those that somebody else has removed or renamed; says so in the log.
    void make_again();

private:
    class Work;

    std::shared_ptr<Work> work_;  // the thread has its share, since it may outlive this
    std::thread thread_;
};

}  // namespace bullring
