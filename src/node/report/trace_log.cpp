#include "src/node/report/trace_log.hpp"

#include <algorithm>
#include <variant>

#include "src/base/log/logging.hpp"

namespace bullring {

namespace {

bool has(std::string_view line, std::string_view text) { return line.find(text) != line.npos; }

bool is_event(std::string_view line) { return has(line, R"("dir":"event")"); }

/// Whether the line recurs while nothing happens.
bool is_routine(std::string_view line) {
    for (const std::string_view text :
         {R"("kind":"HB")", R"("kind":"TACK")", R"("kind":"publish")", R"("renew":true)"})
        if (has(line, text)) return true;
    return false;
}

template <class Use>
void for_each_line(std::string_view lines, const Use& use) {
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        use(line);
    }
}

}  // namespace

void TraceLog::add(protocol::Instant now, const protocol::Event& event,
                   const std::vector<protocol::Action>& actions) {
    std::string lines;
    recorder_.on_event({now}, event, lines);
    for (const protocol::Action& action : actions) {
        recorder_.on_action({now}, action, lines);
        if (std::holds_alternative<protocol::Elected>(action)) leads_ = true;
        if (std::holds_alternative<protocol::Deposed>(action)) leads_ = false;
    }
    // A renewal's answers leave in the step in which it arrives, and arrive at who leads.
    const bool renewal = has(lines, R"("renew":true)");
    for_each_line(lines, [&](std::string_view line) {
        if (is_routine(line)) return;
        if (is_event(line)) return log(LogLevel::debug, line);
        if ((renewal || leads_) && has(line, R"("kind":"GRANT")")) return;
        log(LogLevel::trace, line);
    });
}

}  // namespace bullring
