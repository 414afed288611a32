#include "src/report/logging.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include "src/os/quiet_thread.hpp"
#include "src/runtime/clock.hpp"

namespace bullring {

namespace {

/// Lines that may wait; each one costs about 400 bytes from the start.
constexpr std::size_t queue_lines_max = 256;
constexpr std::chrono::seconds limited_every{10};
constexpr std::size_t topics_max = 256;

spdlog::level::level_enum to_spdlog(LogLevel level) {
    switch (level) {
        case LogLevel::trace: return spdlog::level::trace;
        case LogLevel::debug: return spdlog::level::debug;
        case LogLevel::info: return spdlog::level::info;
        case LogLevel::warn: return spdlog::level::warn;
        case LogLevel::error: return spdlog::level::err;
    }
    return spdlog::level::info;
}

const char* level_name(LogLevel level) {
    switch (level) {
        case LogLevel::trace: return "trace";
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: break;
    }
    return "error";
}

void append_json_string(std::string_view text, std::string& out) {
    out += '"';
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (code < 0x20 || code == 0x7f) {
            out += fmt::format("\\u{:04x}", code);
        } else {
            out += c;
        }
    }
    out += '"';
}

LogLevel from_spdlog(spdlog::level::level_enum level) {
    switch (level) {
        case spdlog::level::trace: return LogLevel::trace;
        case spdlog::level::debug: return LogLevel::debug;
        case spdlog::level::info: return LogLevel::info;
        case spdlog::level::warn: return LogLevel::warn;
        default: return LogLevel::error;
    }
}

/// `2026-11-21T08:00:00.000000Z info  node 3: text`, or the same as a JSON object; with a line
/// break.
std::string log_line(LogFormat format, protocol::NodeId self, std::chrono::nanoseconds time,
                     LogLevel level, std::string_view text) {
    std::string line;
    if (format == LogFormat::json) {
        line = fmt::format(R"({{"time":"{}","level":"{}","node":{},"message":)",
                           rfc3339(time.count()), level_name(level), self.value);
        append_json_string(text, line);
        line += '}';
    } else {
        line =
            fmt::format("{} {:<5} node {}: ", rfc3339(time.count()), level_name(level), self.value);
        // What a peer says may be quoted in it: one line stays one line.
        for (const char c : text) line += c == '\n' || c == '\r' ? ' ' : c;
    }
    return line + '\n';
}

class LineFormatter final : public spdlog::formatter {
public:
    LineFormatter(LogFormat format, protocol::NodeId self) : format_(format), self_(self) {}

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
        const std::string line =
            log_line(format_, self_, message.time.time_since_epoch(), from_spdlog(message.level),
                     {message.payload.data(), message.payload.size()});
        out.append(line.data(), line.data() + line.size());
    }
    std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<LineFormatter>(format_, self_);
    }

private:
    LogFormat format_;
    protocol::NodeId self_;
};

/// Writes to stderr as long as somebody reads it; used by the log's own thread alone.
class StderrSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        std::string_view rest(line.data(), line.size());
        while (!rest.empty()) {
            pollfd stderr_poll{STDERR_FILENO, POLLOUT, 0};
            // A reader that has stopped once is given no more time until it reads again.
            if (::poll(&stderr_poll, 1, stuck_ ? 0 : 200) == 0) {
                stuck_ = true;
                return;
            }
            stuck_ = false;
            // A pipe that is ready takes this much without blocking.
            const ssize_t count =
                ::write(STDERR_FILENO, rest.data(), std::min<std::size_t>(rest.size(), 4096));
            if (count < 0 && errno != EINTR) return;
            if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void flush_() override {}

private:
    bool stuck_ = false;
};

/// Hands lines to the user of the library.
class HandlerSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit HandlerSink(std::function<void(LogLevel, std::string_view)> handler)
        : handler_(std::move(handler)) {}

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        handler_(from_spdlog(message.level),
                 std::string_view(message.payload.data(), message.payload.size()));
    }
    void flush_() override {}

private:
    std::function<void(LogLevel, std::string_view)> handler_;
};

/// Of a process with several nodes: whose thread this is.
thread_local std::string log_prefix;

struct Logging {
    std::shared_ptr<spdlog::details::thread_pool> thread;
    std::shared_ptr<spdlog::async_logger> logger;
};

Logging& logging() {
    static Logging instance;
    return instance;
}

}  // namespace

namespace {

void start_with(const spdlog::sink_ptr& sink, LogLevel level) {
    Logging& state = logging();
    {
        const SignalsBlocked blocked;  // spdlog makes its thread in here
        state.thread = std::make_shared<spdlog::details::thread_pool>(queue_lines_max, 1);
    }
    state.logger = std::make_shared<spdlog::async_logger>(
        "bullring", sink, state.thread, spdlog::async_overflow_policy::overrun_oldest);
    state.logger->set_level(to_spdlog(level));
}

}  // namespace

void start_logging(const LogOptions& options, protocol::NodeId self) {
    const auto sink = std::make_shared<StderrSink>();
    sink->set_formatter(std::make_unique<LineFormatter>(options.format, self));
    start_with(sink, options.level);
}

void start_logging_to(LogLevel level, std::function<void(LogLevel, std::string_view)> handler) {
    start_with(std::make_shared<HandlerSink>(std::move(handler)), level);
}

void log_as(protocol::NodeId node) { log_prefix = fmt::format("node {}: ", node.value); }

void stop_logging() {
    Logging& state = logging();
    if (!state.logger) return;
    state.logger.reset();
    // Its destructor writes what is queued and joins.
    state.thread.reset();
}

bool log_enabled(LogLevel level) {
    const auto& logger = logging().logger;
    return logger && logger->should_log(to_spdlog(level));
}

void log(LogLevel level, std::string_view text) {
    const auto& logger = logging().logger;
    if (!logger || !logger->should_log(to_spdlog(level))) return;
    if (log_prefix.empty())
        return logger->log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
    const std::string line = log_prefix + std::string(text);
    logger->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void log_limited(LogLevel level, const std::string& topic, std::string_view text) {
    struct Topic {
        std::chrono::steady_clock::time_point next;
        std::uint64_t left_out = 0;
    };
    thread_local std::map<std::string, Topic> topics;
    const auto now = std::chrono::steady_clock::now();
    if (topics.size() >= topics_max && !topics.contains(topic)) {
        std::erase_if(topics, [now](const auto& one) { return one.second.next <= now; });
        if (topics.size() >= topics_max) return;
    }
    Topic& state = topics[topic];
    if (now < state.next) {
        ++state.left_out;
        return;
    }
    state.next = now + limited_every;
    if (state.left_out == 0) {
        log(level, text);
    } else {
        log(level, fmt::format("{} ({} more like this meanwhile)", text, state.left_out));
    }
    state.left_out = 0;
}

void print_log_line(LogFormat format, protocol::NodeId self, LogLevel level,
                    std::string_view text) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string line = log_line(format, self, now, level, text);
    pollfd writable{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&writable, 1, 0) > 0 && ::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void print_error(std::string_view text) {
    std::string line = fmt::format("bullring: {}\n", text);
    for (char& c : line) {
        if (c == '\n' && &c != &line.back()) c = ' ';
    }
    while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
    }
}

}  // namespace bullring
