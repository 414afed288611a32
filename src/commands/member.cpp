#include "src/commands/member.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "protocol/assert.hpp"
#include "src/net/tcp.hpp"
#include "src/report/logging.hpp"
#include "src/runtime/clock.hpp"
#include "src/runtime/memory_keeper.hpp"

namespace bullring {

namespace {

void on_broken_invariant(const char* condition, const char* file, int line) {
    print_error(fmt::format("stopped by a broken invariant: {} ({}:{})", condition, file, line));
    // Not abort(): a core dump would hold the sockets open, and the others would wait for their
    // FIN.
    ::_exit(1);
}

}  // namespace

Member::Member(const NodeOptions& options) : options_(options) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader of the events that goes away is not the node's end
    protocol::set_assert_handler(&on_broken_invariant);
    const bool kept = start_memory_keeper();
    start_logging(options.log, options.config.self);
    if (!kept)
        log(LogLevel::warn, "no second process: if this one dies, the others learn it later");
}

Member::~Member() {
    runtime_.reset();
    writer_.reset();
    stop_logging();
}

tl::expected<void, std::string> Member::open(protocol::Duration lock_wait) {
    if (options_.config.quorum == protocol::QuorumMode::majority) {
        auto state = StateDirectory::open(
            options_.data_dir,
            {options_.config.cluster, options_.config.members.ids(), options_.config.self},
            lock_wait);
        if (!state) return tl::unexpected(state.error());
        auto file = state->load();
        if (!file) return tl::unexpected(file.error());
        parts_.start.file = *file;
        parts_.state.emplace(std::move(*state));
    }
    // After the lock: the silence of R6 is counted from when no other process can have promised.
    parts_.start.now = read_clock();
    parts_.start.incarnation = {random_bits()};
    parts_.start.seed = random_bits();
    const WallClock wall_clock = read_wall_clock();
    parts_.start.wall_clock_ms = wall_clock.ms;
    if (wall_clock.before_build) {
        log(LogLevel::warn, "the system's clock is before this program was built; using that date");
    }

    auto listeners = tcp::listen_on(options_.listen);
    if (!listeners) return tl::unexpected(listeners.error());
    parts_.listeners = std::move(*listeners);

    if (options_.events_file.empty() && options_.trace_file.empty()) return {};
    writer_ = std::make_unique<BackgroundWriter>();
    parts_.writer = writer_.get();
    const auto open =
        [&](const std::string& path, const char* what,
            std::optional<BackgroundWriter::StreamId>& stream) -> tl::expected<void, std::string> {
        if (path.empty()) return {};
        auto opened = writer_->open(path, what);
        if (!opened) return tl::unexpected(opened.error());
        stream = *opened;
        return {};
    };
    if (auto done = open(options_.events_file, "events file", parts_.events); !done) {
        return tl::unexpected(done.error());
    }
    if (auto done = open(options_.trace_file, "trace file", parts_.trace); !done) {
        return tl::unexpected(done.error());
    }
    return {};
}

int Member::run(MakeHost make_host) {
    parts_.make_host = std::move(make_host);
    runtime_.emplace(options_, std::move(parts_));
    if (!options_.health.command.empty())
        health_.emplace(options_.health, options_.config.self, options_.config.cluster, *runtime_);
    const int status = runtime_->run();
    health_.reset();
    runtime_->end_host();
    if (!runtime_->resolving()) return status;
    // The resolver cannot be interrupted, and joining its thread could take many seconds.
    writer_.reset();
    stop_logging();
    ::_exit(status);
}

std::vector<pid_t> Member::own_children() const {
    std::vector<pid_t> own;
    if (memory_keeper() > 0) own.push_back(memory_keeper());
    if (health_ && health_->running() > 0) own.push_back(health_->running());
    return own;
}

}  // namespace bullring
