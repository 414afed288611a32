// Owns: noticing that somebody else removes a file from the data directory, as what cleans up does
// (inotify(7)). Asks no disk: the kernel reports.
#pragma once

#include <functional>
#include <set>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

namespace bullring {

class DirectoryWatch {
public:
    /// In the place of a name when so much was removed at once that the kernel does not say what.
    static constexpr const char* any_file = "";

    /// `removed`: the name of a file that was removed, or given another name, about a second ago;
    /// by then it may be there again. Called in the loop. Where the system has no more watches
    /// nothing is noticed, and the log says so.
    DirectoryWatch(asio::io_context& io, const std::string& path,
                   std::function<void(const std::string& name)> removed);

    /// An inotify; -1: there is none.
    int descriptor() { return events_.is_open() ? events_.native_handle() : -1; }

private:
    void wait();
    void read_events();
    void tell_soon();

    asio::posix::stream_descriptor events_;
    asio::steady_timer timer_;
    std::function<void(const std::string&)> removed_;
    std::set<std::string> names_;
};

}  // namespace bullring
