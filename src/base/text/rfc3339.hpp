// Owns: the time of day as people and logs read it, made without the C library: also a process that
// shares the memory of another one can make it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace bullring {

/// RFC 3339 in UTC with microseconds. From 1970 to 9999.
class Rfc3339 {
public:
    explicit constexpr Rfc3339(std::int64_t wall_clock_ns)
        : Rfc3339(std::chrono::microseconds(wall_clock_ns / 1000)) {}
    explicit constexpr Rfc3339(std::chrono::seconds since_1970)
        : Rfc3339(std::chrono::microseconds(since_1970)) {}

    constexpr std::string_view text() const { return {text_.data(), text_.size()}; }
    constexpr std::string_view date() const { return text().substr(0, 10); }

private:
    explicit constexpr Rfc3339(std::chrono::microseconds since_1970) {
        using std::chrono::days;
        constexpr std::int64_t day_us = std::int64_t{86'400} * 1'000'000;
        const std::int64_t us = since_1970.count();
        const std::chrono::year_month_day date{std::chrono::sys_days(days(us / day_us))};
        const std::int64_t of_day = us % day_us;
        put(0, 4, static_cast<int>(date.year()));
        put(5, 2, static_cast<unsigned>(date.month()));
        put(8, 2, static_cast<unsigned>(date.day()));
        put(11, 2, of_day / 3'600'000'000);
        put(14, 2, of_day / 60'000'000 % 60);
        put(17, 2, of_day / 1'000'000 % 60);
        put(20, 6, of_day % 1'000'000);
    }

    constexpr void put(std::size_t at, std::size_t digits, std::int64_t value) {
        for (std::size_t i = digits; i > 0; --i, value /= 10)
            text_[at + i - 1] = static_cast<char>('0' + value % 10);
    }

    static constexpr std::size_t length = std::string_view("1970-01-01T00:00:00.000000Z").size();
    std::array<char, length> text_{'1', '9', '7', '0', '-', '0', '1', '-', '0',
                                   '1', 'T', '0', '0', ':', '0', '0', ':', '0',
                                   '0', '.', '0', '0', '0', '0', '0', '0', 'Z'};
};

}  // namespace bullring
