// `bullring node`: opens everything that can fail at the start, then runs the loop to its end.
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "protocol/assert.hpp"
#include "src/commands/commands.hpp"
#include "src/net/tcp.hpp"
#include "src/report/logging.hpp"
#include "src/runtime/clock.hpp"
#include "src/runtime/memory_keeper.hpp"
#include "src/runtime/runtime.hpp"

namespace bullring {

namespace {

/// The process before this one may be about to end, and its guard with it.
constexpr protocol::Duration lock_wait = protocol::seconds(1);

void on_broken_invariant(const char* condition, const char* file, int line) {
    print_error(fmt::format("stopped by a broken invariant: {} ({}:{})", condition, file, line));
    // Not abort(): a core dump would hold the sockets open, and the others would wait for their
    // FIN.
    ::_exit(1);
}

tl::expected<Runtime::Parts, std::string> open_parts(const NodeOptions& options,
                                                     std::unique_ptr<BackgroundWriter>& writer) {
    Runtime::Parts parts;
    if (options.config.quorum == protocol::QuorumMode::majority) {
        auto state = StateDirectory::open(
            options.data_dir,
            {options.config.cluster, options.config.members.ids(), options.config.self}, lock_wait);
        if (!state) return tl::unexpected(state.error());
        auto file = state->load();
        if (!file) return tl::unexpected(file.error());
        parts.start.file = *file;
        parts.state.emplace(std::move(*state));
    }
    // After the lock: the silence of R6 is counted from when no other process can have promised.
    parts.start.now = read_clock();
    parts.start.incarnation = {random_bits()};
    parts.start.seed = random_bits();
    const WallClock wall_clock = read_wall_clock();
    parts.start.wall_clock_ms = wall_clock.ms;
    if (wall_clock.before_build) {
        log(LogLevel::warn, "the system's clock is before this program was built; using that date");
    }

    auto listeners = tcp::listen_on(options.listen);
    if (!listeners) return tl::unexpected(listeners.error());
    parts.listeners = std::move(*listeners);

    if (options.events_file.empty() && options.trace_file.empty()) return parts;
    writer = std::make_unique<BackgroundWriter>();
    parts.writer = writer.get();
    const auto open =
        [&](const std::string& path, const char* what,
            std::optional<BackgroundWriter::StreamId>& stream) -> tl::expected<void, std::string> {
        if (path.empty()) return {};
        auto opened = writer->open(path, what);
        if (!opened) return tl::unexpected(opened.error());
        stream = *opened;
        return {};
    };
    if (auto done = open(options.events_file, "events file", parts.events); !done) {
        return tl::unexpected(done.error());
    }
    if (auto done = open(options.trace_file, "trace file", parts.trace); !done) {
        return tl::unexpected(done.error());
    }
    return parts;
}

}  // namespace

int run_node(const NodeOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader of the events that goes away is not the node's end
    protocol::set_assert_handler(&on_broken_invariant);
    const bool kept = start_memory_keeper();
    start_logging(options.log, options.config.self);
    if (!kept)
        log(LogLevel::warn, "no second process: if this one dies, the others learn it later");

    std::unique_ptr<BackgroundWriter> writer;
    auto parts = open_parts(options, writer);
    if (!parts) {
        print_error(parts.error());
        stop_logging();
        return 1;
    }
    auto runtime = std::make_unique<Runtime>(options, std::move(*parts));
    const int status = runtime->run();
    if (runtime->resolving()) {
        // The resolver cannot be interrupted, and joining its thread could take many seconds.
        writer.reset();
        stop_logging();
        ::_exit(status);
    }
    runtime.reset();
    writer.reset();
    stop_logging();
    return status;
}

}  // namespace bullring
