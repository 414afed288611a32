// Owns: one file, pipe or FIFO to which whole lines are appended. While it takes none, for want of
// room on the disk, of a reader or of its reader's patience, lines are lost and counted; it is
// tried again until it takes them, and the first line then says how many are missing. The writer's
// thread, where nothing else is said.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include <tl/expected.hpp>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

class LineStream {
public:
    /// The line in the place of so many.
    using GapLine = std::function<std::string(std::uint64_t lost)>;

    /// "-" is stdout. `what` names the stream in lines of the log. No `gap_line`: there is none.
    LineStream(std::string path, std::string what, GapLine gap_line)
        : path_(std::move(path)), what_(std::move(what)), gap_line_(std::move(gap_line)) {}

    /// Never waits for the reader of a FIFO.
    tl::expected<void, std::string> open();
    /// False: it is lost. Waits while the other end is slow, until overflow() or give_up().
    bool write(const std::string& text);
    /// When nothing is to be written: it may take lines again.
    void look();
    /// By its name, for those who rotate it.
    void reopen();
    /// The same where somebody has removed or renamed it; says so in the log.
    void make_again();
    /// The file is closed.
    void close() { fd_ = OwnedFd(); }

    // ---- Any thread.

    /// No room is left for its lines: those that wait are lost, and so is this one.
    void overflow();
    bool overflows() const { return too_slow_.load(); }
    /// The thread that waits in write() stops.
    void give_up() { given_up_.store(true); }
    bool is_interrupted() const { return too_slow_.load() || error_.load() != 0; }
    std::uint64_t lost() const { return lost_.load(); }
    /// Why lines are lost now; empty: none are.
    std::string problem() const;

private:
    static constexpr std::chrono::seconds try_every{1};

    bool is_stdout() const { return path_ == "-"; }
    std::string name() const { return "the " + what_ + " " + path_; }
    void lose();
    /// With that line behind the one that tells what is missing.
    bool come_back(const std::string& line);
    bool put(const std::string& text);
    bool fail(int error);
    void lose_reader();

    std::string path_;
    std::string what_;
    GapLine gap_line_;
    OwnedFd fd_;         // not for stdout, nor for a FIFO that nobody reads
    bool gone_ = false;  // and can't be made again
    bool torn_ = false;  // it ends within a line
    bool said_ = false;  // the log has a line of the interruption
    std::chrono::steady_clock::time_point next_try_;

    std::atomic<std::uint64_t> lost_{0};    // since the start
    std::atomic<std::uint64_t> untold_{0};  // of them those that no line in the stream tells of
    std::atomic<bool> too_slow_{false};
    std::atomic<int> error_{0};  // ENXIO: a FIFO that nobody reads; 0: it takes lines
    std::atomic<bool> given_up_{false};
};

}  // namespace bullring
