#include "src/watch/directory_watch.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

using Wait = asio::posix::descriptor_base;

/// By then a process that replaces a file has done so.
constexpr std::chrono::seconds reported_after{1};
/// A directory that is not there any more is looked for so often.
constexpr std::chrono::seconds looked_for_every{10};

constexpr std::uint32_t removals =
    IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t of_the_directory = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;

constexpr const char* mount_table = "/proc/self/mountinfo";

/// As the mount table writes it.
std::string encoded(const std::string& path) {
    std::string text;
    for (const char c : path)
        if (c == ' ' || c == '\t' || c == '\n' || c == '\\')
            text += fmt::format("\\{:03o}", static_cast<unsigned>(c));
        else
            text += c;
    return text;
}

bool is_on_the_way(std::string_view mount_point, std::string_view path) {
    if (mount_point == "/") return true;
    return path.starts_with(mount_point) &&
           (path.size() == mount_point.size() || path[mount_point.size()] == '/');
}

/// The numbers of what is mounted where one passes on the way to it.
std::string mounts_on_the_way(const std::string& path) {
    const std::string wanted = encoded(path);
    std::string found;
    std::ifstream table(mount_table);
    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string number, parent, device, root, mount_point;
        if (words >> number >> parent >> device >> root >> mount_point &&
            is_on_the_way(mount_point, wanted))
            found += number + " ";
    }
    return found;
}

std::string resolved(const std::string& path) {
    std::error_code error;
    const std::filesystem::path found = std::filesystem::canonical(path, error);
    return error ? "" : found.string();
}

}  // namespace

DirectoryWatch::DirectoryWatch(asio::io_context& io) : events_(io), mounts_(io), timer_(io) {
    if (OwnedFd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)); events) {
        events_.assign(events.release());
        wait_for_events();
    }
    if (OwnedFd mounts(::open(mount_table, O_RDONLY | O_CLOEXEC)); mounts) {
        mounts_.assign(mounts.release());
        wait_for_mounts();
    }
}

void DirectoryWatch::add(const std::string& path, Removed removed) {
    const std::string real = resolved(path);
    Watched& added =
        all_.emplace_back(Watched{path, std::move(removed), real, mounts_on_the_way(real), -1, {}});
    if (events_.is_open())
        added.number = ::inotify_add_watch(events_.native_handle(), path.c_str(), removals);
    if (added.number < 0)
        log(LogLevel::info, "what is removed from " + path +
                                " is not noticed: " + std::generic_category().message(errno));
}

void DirectoryWatch::add_file(const std::string& path, std::function<void()> removed) {
    const std::filesystem::path file(path);
    const std::string directory = file.parent_path().string();
    add(directory.empty() ? "." : directory,
        [name = file.filename().string(), removed = std::move(removed)](const std::string& one) {
            if (one == name || one == any_file) removed();
        });
}

void DirectoryWatch::wait_for_events() {
    events_.async_wait(Wait::wait_read, [this](const asio::error_code& error) {
        if (error) return;
        read_events();
        wait_for_events();
    });
}

void DirectoryWatch::read_events() {
    alignas(inotify_event) char bytes[4096];
    ssize_t count = 0;
    while ((count = ::read(events_.native_handle(), bytes, sizeof bytes)) > 0) {
        for (ssize_t at = 0; at < count;) {
            inotify_event event{};
            std::memcpy(&event, bytes + at, sizeof event);
            const char* const name = event.len > 0 ? bytes + at + sizeof event : any_file;
            const bool overflow = (event.mask & IN_Q_OVERFLOW) != 0;
            for (Watched& one : all_) {
                if (!overflow && one.number != event.wd) continue;
                if ((event.mask & of_the_directory) != 0) one.number = -1;
                note(one, name);
            }
            at += static_cast<ssize_t>(sizeof event + event.len);
        }
    }
}

/// A change of the table is an exceptional condition of its file (proc(5)).
void DirectoryWatch::wait_for_mounts() {
    mounts_.async_wait(Wait::wait_error, [this](const asio::error_code& error) {
        if (error) return;
        mounts_changed_ = true;
        tell_soon();
        wait_for_mounts();
    });
}

/// Most changes concern others: nobody's disk is asked for them.
void DirectoryWatch::look_at_mounts() {
    for (Watched& one : all_) {
        std::string mounts = mounts_on_the_way(one.resolved);
        if (mounts == one.mounts) continue;
        one.mounts = std::move(mounts);
        one.number = -1;
        one.names.emplace(any_file);
    }
}

void DirectoryWatch::note(Watched& watched, const char* name) {
    watched.names.emplace(name);
    tell_soon();
}

void DirectoryWatch::tell_soon() {
    if (std::exchange(telling_, true)) return;
    timer_.expires_after(reported_after);
    timer_.async_wait([this](const asio::error_code& error) {
        if (!error) tell();
    });
}

void DirectoryWatch::tell() {
    telling_ = false;
    if (std::exchange(mounts_changed_, false)) look_at_mounts();
    bool all_there = true;
    for (Watched& one : all_) {
        // The end of a directory is not reported while a file that was in it is open.
        if (events_.is_open() && (one.number < 0 || !one.names.empty())) {
            const int before = one.number;
            one.number = ::inotify_add_watch(events_.native_handle(), one.path.c_str(), removals);
            if (one.number < 0)
                all_there = false;
            else if (one.number != before)
                one.names.emplace(any_file);
        }
        for (const std::string& name : std::exchange(one.names, {})) one.removed(name);
    }
    if (all_there || telling_) return;
    telling_ = true;
    timer_.expires_after(looked_for_every);
    timer_.async_wait([this](const asio::error_code& error) {
        if (!error) tell();
    });
}

}  // namespace bullring
