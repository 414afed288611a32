// Owns: the rate limit of log lines that others can cause: for each kind of event and each source
// of it one line in ten seconds, and then fewer, as long as it goes on. Strangers can come from any
// number of addresses, so all their sources share one limit, and never use up that of members.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bullring {

/// Where something came from. The default is for what has one source only.
struct LogSource {
    std::string text;
    bool member = true;
};

class LogLimit {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Twice as long each time, up to `at_most`, until nothing has come for as long again.
    static constexpr std::chrono::seconds every{10};
    static constexpr std::chrono::seconds at_most{120};
    /// Each one with its own line; all that come beyond share one.
    static constexpr std::size_t strangers_max = 16;
    static constexpr std::size_t members_max = 64;
    static constexpr std::size_t kinds_max = 64;

    /// When a line may be logged now: how many like it were not since the last one.
    std::optional<std::uint64_t> admit(std::string_view kind, const LogSource& source, Time now);

private:
    struct Line {
        Time next;
        std::chrono::seconds pause{0};
        std::uint64_t left_out = 0;
    };
    struct Kind {
        std::map<std::string, Line> strangers;
        std::map<std::string, Line> members;
    };

    Kind& kind_of(std::string_view name);

    std::map<std::string, Kind, std::less<>> kinds_;
};

}  // namespace bullring
