#include "src/base/log/logging.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include "src/base/log/journal.hpp"
#include "src/base/os/bounded_write.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/text/text.hpp"

namespace bullring {

namespace {

/// Lines that may wait; each one costs about 400 bytes from the start.
constexpr std::size_t queue_lines_max = 256;
/// How long what is queued at the end, and the line that says why the program fails, may take.
constexpr std::chrono::seconds stderr_patience{1};

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
        if (c == '"' || c == '\\') out += '\\';
        out += c;
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

/// With a line break. What others say may be quoted in it.
std::string log_line(LogFormat format, protocol::NodeId self, LogLevel level, std::string_view text,
                     const LogFields& fields = {}) {
    const LogLineParts parts = log_line_parts(format, self, level, text, fields);
    return parts.before_time + rfc3339(wall_clock_ns()) + parts.after_time;
}

/// Writes whole lines to stderr; used by the log's own thread alone, which waits for the reader.
class StderrSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    /// After a flush has been asked for. False when what was queued before is not written in time.
    bool wait_for_flush(std::chrono::milliseconds patience) {
        std::unique_lock lock(flush_mutex_);
        return changed_.wait_for(lock, patience, [this] { return flushed_; });
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        write_waiting(STDERR_FILENO, {message.payload.data(), message.payload.size()});
    }
    void flush_() override {
        const std::lock_guard lock(flush_mutex_);
        flushed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex flush_mutex_;
    std::condition_variable changed_;
    bool flushed_ = false;
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
    std::shared_ptr<StderrSink> to_stderr;  // the program's; none: the library's
    LogFormat format = LogFormat::text;
    protocol::NodeId self;
};

Logging& logging() {
    static Logging& instance = *new Logging;  // never destroyed: its thread may outlive main()
    return instance;
}

void start_with(const spdlog::sink_ptr& sink, LogLevel level, std::function<void()> in_thread) {
    Logging& state = logging();
    {
        const SignalsBlocked blocked;  // spdlog makes its thread in here
        state.thread = std::make_shared<spdlog::details::thread_pool>(queue_lines_max, 1,
                                                                      std::move(in_thread));
    }
    state.logger = std::make_shared<spdlog::async_logger>(
        "bullring", sink, state.thread, spdlog::async_overflow_policy::overrun_oldest);
    state.logger->set_level(to_spdlog(level));
}

}  // namespace

/// `2026-11-21T08:00:00.000000Z info  node 3: text`, or the same as a JSON object, which has the
/// fields, too.
LogLineParts log_line_parts(LogFormat format, protocol::NodeId self, LogLevel level,
                            std::string_view text, const LogFields& fields) {
    const std::string shown = one_line(text);
    if (format != LogFormat::json)
        return {std::string(journal_prefix(level)),
                fmt::format(" {:<5} node {}: {}\n", level_name(level), self.value, shown)};
    std::string line =
        fmt::format(R"(","level":"{}","node":{},"message":)", level_name(level), self.value);
    append_json_string(shown, line);
    for (const auto& [name, value] : fields) {
        line += fmt::format(R"(,"{}":)", name);
        if (const auto* number = std::get_if<std::uint64_t>(&value)) {
            line += std::to_string(*number);
        } else if (const auto* fraction = std::get_if<double>(&value)) {
            line += fmt::format("{}", *fraction);
        } else if (const auto* word = std::get_if<std::string>(&value)) {
            append_json_string(one_line(*word), line);
        } else {
            line += "null";
        }
    }
    return {std::string(journal_prefix(level)) + R"({"time":")", line + "}\n"};
}

void start_logging(const LogOptions& options, protocol::NodeId self) {
    Logging& state = logging();
    state.to_stderr = std::make_shared<StderrSink>();
    state.format = options.format;
    state.self = self;
    start_with(state.to_stderr, options.level, [] { leave_shared_descriptors(); });
}

void start_logging_to(LogLevel level, std::function<void(LogLevel, std::string_view)> handler) {
    start_with(std::make_shared<HandlerSink>(std::move(handler)), level, [] {});
}

void stop_logging() {
    Logging& state = logging();
    if (!state.logger) return;
    // The logger's sink stays until its thread has ended.
    const std::shared_ptr<spdlog::async_logger> logger = std::move(state.logger);
    if (state.to_stderr) logger->flush();
    // Nobody reads stderr: the thread can't be joined, and ends with the process.
    if (state.to_stderr && !state.to_stderr->wait_for_flush(stderr_patience)) return;
    // Its destructor writes what is queued and joins.
    state.thread.reset();
}

void log_as(protocol::NodeId node) { log_prefix = fmt::format("node {}: ", node.value); }

bool log_enabled(LogLevel level) {
    const auto& logger = logging().logger;
    return logger && logger->should_log(to_spdlog(level));
}

void log(LogLevel level, std::string_view text, const LogFields& fields) {
    if (!log_enabled(level)) return;
    const Logging& state = logging();
    const std::string line = state.to_stderr
                                 ? log_line(state.format, state.self, level, text, fields)
                                 : log_prefix + one_line(text);
    state.logger->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

bool log_limited(LogLevel level, std::string_view kind, const LogSource& source,
                 std::string_view text) {
    thread_local LogLimit limit;
    const auto left_out = limit.admit(kind, source, std::chrono::steady_clock::now());
    if (!left_out) return false;
    log(level, *left_out == 0 ? std::string(text)
                              : fmt::format("{} ({} others left out before)", text, *left_out));
    return true;
}

void print_log_line(LogFormat format, protocol::NodeId self, LogLevel level,
                    std::string_view text) {
    write_soon(STDERR_FILENO, log_line(format, self, level, text));
}

void finish_log_lines() { finish_writing(stderr_patience); }

void print_error(std::string_view text) {
    write_soon(STDERR_FILENO,
               fmt::format("{}bullring: {}\n", journal_prefix(LogLevel::error), one_line(text)));
    finish_log_lines();
}

bool print_answer(const std::string& text) {
    // A text that does not fit into the buffer is written, and fails, at once.
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return true;
    print_error("stdout can't be written");
    return false;
}

}  // namespace bullring
