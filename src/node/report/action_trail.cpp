#include "src/node/report/action_trail.hpp"

#include <chrono>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/tcp.hpp"

namespace bullring {

namespace {

std::string log_text(const AskedAction& action, std::uint64_t left_out) {
    std::string text = fmt::format("{} was asked for by {}: {}", action.what,
                                   to_text(action.caller), name(action.answer));
    if (!action.why.empty()) text += ": " + action.why;
    if (left_out > 0) text += fmt::format(" ({} like it before were left out)", left_out);
    return text;
}

}  // namespace

void ActionTrail::tell(const EventTime& at, const AskedAction& action) {
    std::uint64_t left_out = 0;
    if (action.answer != AskedAction::Answer::done) {
        const LogSource source{tcp::host_of(action.caller.from), action.caller.member};
        const auto admitted =
            limit_.admit(name(action.answer), source, std::chrono::steady_clock::now());
        if (!admitted) return;
        left_out = *admitted;
    }
    const bool refused = action.answer == AskedAction::Answer::refused;
    log(refused ? LogLevel::warn : LogLevel::info, log_text(action, left_out));
    if (events_) writer_->write(*events_, EventLines::asked(at, self_, action, left_out));
}

}  // namespace bullring
