// Owns: noticing that somebody else removes what this process has made, as what cleans up does
// (inotify(7)), or mounts a volume over it (mountinfo in proc(5)). Asks no disk: the kernel
// reports.
#pragma once

#include <functional>
#include <list>
#include <set>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

namespace bullring {

class DirectoryWatch {
public:
    /// In the place of a name when it is not known what was removed: too much at once, the
    /// directory itself, or something was mounted over it, or is mounted there no more.
    static constexpr const char* any_file = "";
    /// The name of a file that was removed, or given another name, about a second ago; by then it
    /// may be there again.
    using Removed = std::function<void(const std::string& name)>;

    explicit DirectoryWatch(asio::io_context& io);

    /// `removed` is called in the loop. Where the system has no more watches nothing is noticed,
    /// and the log says so. Before the loop runs: it asks the disk.
    void add(const std::string& path, Removed removed);
    /// The same of one file; `removed` is called when it may have been.
    void add_file(const std::string& path, std::function<void()> removed);

    /// An inotify; -1: there is none.
    int descriptor() { return events_.is_open() ? events_.native_handle() : -1; }

private:
    struct Watched {
        std::string path;
        Removed removed;
        std::string resolved;  // without links; empty: it was not there
        std::string mounts;    // on the way to it
        int number;            // of its watch; -1: there is none
        std::set<std::string> names;
    };

    void wait_for_events();
    void read_events();
    void wait_for_mounts();
    void look_at_mounts();
    void note(Watched& watched, const char* name);
    void tell_soon();
    void tell();

    asio::posix::stream_descriptor events_;
    asio::posix::stream_descriptor mounts_;
    asio::steady_timer timer_;
    bool telling_ = false;
    bool mounts_changed_ = false;
    std::list<Watched> all_;
};

}  // namespace bullring
