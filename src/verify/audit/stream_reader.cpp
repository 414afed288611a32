#include "src/verify/audit/stream_reader.hpp"

#include <utility>

#include "src/base/text/text_encoding.hpp"
#include "src/node/report/event_line.hpp"

namespace bullring::audit {

namespace {

/// No event is as long, so a file without lines does not fill the memory.
constexpr std::size_t line_bytes_max = 64 * 1024;
constexpr std::string_view too_long = "a line of more than 64 KiB";

}  // namespace

std::optional<WrongStream> StreamReader::read(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        if (rest_.size() + part.size() > line_bytes_max)
            return WrongStream{line_ + 1, std::string(too_long)};
        if (end == std::string_view::npos) {
            rest_ += part;
            return std::nullopt;
        }
        std::optional<WrongStream> wrong;
        if (rest_.empty()) {
            wrong = take(part);
        } else {
            rest_ += part;
            wrong = take(std::exchange(rest_, {}));
        }
        if (wrong) return wrong;
        bytes.remove_prefix(end + 1);
    }
    return std::nullopt;
}

std::optional<WrongStream> StreamReader::end() {
    if (rest_.empty()) return std::nullopt;
    return take(std::exchange(rest_, {}));
}

std::optional<WrongStream> StreamReader::take(std::string_view line) {
    ++line_;
    if (line_ == 1 && is_utf16(line)) return WrongStream{line_, not_utf8};
    if (line_ == 1) line = without_mark(line);
    if (line.empty()) return std::nullopt;
    auto event = parse_event_line(line);
    if (!event) {
        // Its writer died within the line, and the next one began where it ended.
        const std::size_t whole = begin_of_last_event(line);
        if (whole == 0 && !is_torn(line)) return WrongStream{line_, event.error()};
        history_.add_torn(line_);
        if (whole == 0) return std::nullopt;
        line.remove_prefix(whole);
        event = parse_event_line(line);
        if (!event && !is_torn(line)) return WrongStream{line_, event.error()};
        if (!event) return std::nullopt;
    }
    history_.add(line_, line, *event);
    return std::nullopt;
}

}  // namespace bullring::audit
