// Owns: the rate limit of log lines that others can cause: one line in ten seconds for each kind of
// event and each source of it. Strangers can come from any number of addresses, so all their
// sources share one limit, and never use up that of members.
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

    static constexpr std::chrono::seconds every{10};
    /// Each one with its own line; all that come beyond share one.
    static constexpr std::size_t strangers_max = 16;
    static constexpr std::size_t members_max = 64;
    static constexpr std::size_t kinds_max = 64;

    /// When a line may be logged now: how many like it were not since the last one.
    std::optional<std::uint64_t> admit(std::string_view kind, const LogSource& source, Time now);

private:
    struct Line {
        Time next;
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
