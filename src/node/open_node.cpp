#include "src/node/open_node.hpp"

#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/tcp.hpp"
#include "src/node/known_members.hpp"
#include "src/node/own_name.hpp"
#include "src/security/death_secret.hpp"
#include "src/settings/data_files.hpp"

namespace bullring {

namespace {

OpenError wire_is_too_low(const protocol::Membership& list, const NodeOptions& options) {
    return {fmt::format("--wire {} has no messages for the list of members {} in {}, which was "
                        "changed; expected {} or more, or no --wire",
                        options.config.wire_highest, to_text(*list.tag()), options.data_dir,
                        lowest_with(list)),
            true};
}

}  // namespace

tl::expected<OpenedNode, OpenError> open_node(NodeOptions& options, protocol::Duration lock_wait) {
    OpenedNode opened;
    Runtime::Parts& parts = opened.parts;
    if (options.config.quorum == protocol::QuorumMode::majority) {
        auto state = StateDirectory::open(options.data_dir,
                                          {options.config.cluster, options.config.self}, lock_wait);
        if (!state) return tl::unexpected(OpenError{state.error()});
        auto file = state->load();
        if (!file) return tl::unexpected(OpenError{file.error()});
        parts.start.file = *file;
        if (parts.start.file) {
            const protocol::Membership& list = parts.start.file->members;
            if (options.config.wire_highest < lowest_with(list))
                return tl::unexpected(wire_is_too_low(list, options));
            const std::string differs = take_members(parts.start.file->members, options);
            if (!differs.empty()) log(LogLevel::warn, differs);
            parts.start.file->members = options.config.members;
        }
        parts.state.emplace(std::move(*state));
        auto control = LocalListener::open(options.data_dir, control_socket_name, SOCK_STREAM);
        if (control)
            parts.control.emplace(std::move(*control));
        else
            log(LogLevel::warn, "bullring resign --local can't be used here: " + control.error());
    }
    options.config.listens = said_address(options);
    // After the lock: the silence of R6 is counted from when no other process can have promised.
    parts.start.now = read_clock();
    parts.start.incarnation = {random_bits()};
    if (options.config.tells_of_its_end()) {
        parts.death_secret = draw_death_secret();  // N1.2
        parts.start.commitment = commitment_to(parts.death_secret);
    }
    parts.start.seed = random_bits();
    const WallClock wall_clock = read_wall_clock();
    parts.start.wall_clock_ms = wall_clock.ms;
    if (wall_clock.before_build) {
        log(LogLevel::warn, "the system's clock is before this program was built; using that date");
    }

    if (const auto short_of = descriptor_shortage(descriptors_needed(options.peers.size())))
        log(LogLevel::warn, *short_of);

    auto security = open_tls(options.security, {options.config.cluster, options.config.self});
    if (!security) return tl::unexpected(OpenError{security.error()});
    parts.security = opened.security = std::move(*security);

    auto listeners = tcp::listen_on(options.listen);
    if (!listeners) return tl::unexpected(OpenError{listeners.error()});
    parts.listeners = std::move(*listeners);
    if (const std::string why = why_nobody_reaches(options); !why.empty()) log(LogLevel::warn, why);

    opened.trail = ActionTrail(options.config.self);
    if (options.events_file.empty() && options.trace_file.empty()) return opened;
    opened.writer = std::make_unique<BackgroundWriter>();
    parts.writer = opened.writer.get();
    const auto open = [&](const std::string& path, const char* what,
                          std::optional<BackgroundWriter::StreamId>& stream,
                          LineStream::GapLine gap_line) -> tl::expected<void, std::string> {
        if (path.empty()) return {};
        auto id = opened.writer->open(path, what, std::move(gap_line));
        if (!id) return tl::unexpected(id.error());
        stream = *id;
        return {};
    };
    const auto lost_line = [self = options.config.self](std::uint64_t lost) {
        return lost_events_line(event_time_now(), self, lost);
    };
    if (auto done = open(options.events_file, "events file", parts.events, lost_line); !done) {
        return tl::unexpected(OpenError{done.error()});
    }
    if (auto done = open(options.trace_file, "trace file", parts.trace, {}); !done) {
        return tl::unexpected(OpenError{done.error()});
    }
    opened.trail = ActionTrail(options.config.self, parts.writer, parts.events);
    return opened;
}

}  // namespace bullring
