#include "src/task/supervisor/guard_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/values/assert.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/task/spawn_settings.hpp"

extern char** environ;

namespace bullring {

namespace {

constexpr int socket_descriptor = 3;
constexpr int page_descriptor = 4;

/// Not "bullring" alone: whoever signals all processes of exactly that name means the nodes, and
/// the guards then do what they are for.
constexpr const char* process_name = "bullring-guard";

tl::expected<pid_t, int> spawn_guard(const GuardSettings& settings, int socket, int page) {
    sigset_t all;
    ::sigfillset(&all);
    SpawnSettings spawned(all);
    posix_spawn_file_actions_adddup2(spawned.files(), socket, socket_descriptor);
    posix_spawn_file_actions_adddup2(spawned.files(), page, page_descriptor);

    std::vector<std::string> words = guard_words(settings);
    words.insert(words.begin(), process_name);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    // The program itself, even if its file has been replaced since.
    return spawn_child("/proc/self/exe", spawned.files(), spawned.attributes(), arguments.data(),
                       environ);
}

/// A descriptor above those that the guard gets, so that none is overwritten before it is copied.
OwnedFd high(OwnedFd fd) {
    return OwnedFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, page_descriptor + 1));
}

}  // namespace

GuardProcess::GuardProcess(asio::io_context& io, GuardSettings settings, int page,
                           Callbacks callbacks)
    : io_(io), settings_(std::move(settings)), page_(page), callbacks_(std::move(callbacks)) {
    settings_.socket = socket_descriptor;
    settings_.page = page_descriptor;
}

GuardProcess::~GuardProcess() = default;

tl::expected<void, std::string> GuardProcess::spawn() {
    const auto cannot = [](int error) {
        return tl::unexpected(fmt::format("cannot start the guard of the command: {}",
                                          std::generic_category().message(error)));
    };
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
        return cannot(errno);
    OwnedFd ours(ends[0]);
    const OwnedFd theirs = high(OwnedFd(ends[1]));
    const OwnedFd page(::fcntl(page_, F_DUPFD_CLOEXEC, page_descriptor + 1));
    if (!theirs || !page) return cannot(errno);
    const auto child = spawn_guard(settings_, theirs.get(), page.get());
    if (!child) return cannot(child.error());
    pid_ = *child;
    socket_.emplace(io_, ours.release());
    listen();
    return {};
}

void GuardProcess::hold(int descriptor) {
    GuardOrder hold;
    hold.kind = GuardOrder::Kind::hold;
    order(hold, descriptor);
}

void GuardProcess::notice(int descriptor) {
    GuardOrder notice;
    notice.kind = GuardOrder::Kind::notice;
    order(notice, descriptor);
}

void GuardProcess::keep(protocol::SessionId session, int descriptor) {
    GuardOrder keep;
    keep.kind = GuardOrder::Kind::keep;
    keep.session = session.value;
    order(keep, descriptor);
}

void GuardProcess::forget(protocol::SessionId session) {
    GuardOrder forget;
    forget.kind = GuardOrder::Kind::forget;
    forget.session = session.value;
    order(forget);
}

void GuardProcess::start(protocol::Epoch epoch, int progress,
                         std::span<const std::byte> last_word) {
    GuardOrder start;
    start.kind = GuardOrder::Kind::start;
    start.epoch = epoch.value;
    BULLRING_ASSERT(last_word.size() <= GuardOrder::last_word_max);
    start.last_word_bytes = static_cast<std::uint32_t>(last_word.size());
    std::copy(last_word.begin(), last_word.end(), start.last_word.begin());
    order(start, progress);
}

void GuardProcess::stop(protocol::Epoch epoch) {
    GuardOrder stop;
    stop.epoch = epoch.value;
    order(stop);
}

void GuardProcess::signal(int signal) {
    GuardOrder pass_on;
    pass_on.kind = GuardOrder::Kind::signal;
    pass_on.signal = signal;
    order(pass_on);
}

void GuardProcess::order(const GuardOrder& order, int descriptor) {
    if (!socket_) return;
    // The few orders that there are fit into the socket; one that does not read is no guard.
    if (!send_record(socket_->native_handle(), &order, sizeof order, descriptor) &&
        errno != EPIPE && errno != ECONNRESET)
        kill();
}

void GuardProcess::kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void GuardProcess::wait(protocol::Duration patience) {
    socket_.reset();
    if (pid_ == 0) return;
    if (patience < protocol::forever && !child_ends_within(pid_, patience)) kill();
    wait_for_child(std::exchange(pid_, 0));
}

void GuardProcess::listen() {
    socket_->async_wait(asio::posix::descriptor_base::wait_read,
                        [this](const asio::error_code& error) {
                            if (!error) read_reports();
                        });
}

void GuardProcess::read_reports() {
    GuardReport report;
    OwnedFd none;
    int received = 0;
    while (socket_ &&
           (received = receive_record(socket_->native_handle(), &report, sizeof report, none)) > 0)
        callbacks_.report(report);
    if (!socket_) return;
    if (received == 0) return lose();
    listen();
}

void GuardProcess::lose() {
    wait();
    callbacks_.lost();
}

}  // namespace bullring
