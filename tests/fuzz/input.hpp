// The tools of the fuzz targets: an input that is taken apart into values, and the end of a run in
// which something is seen that must not be. After the input's end every value is zero, so that each
// input means something.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

namespace bullring::fuzz {

class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    bool empty() const { return rest_.empty(); }

    template <std::unsigned_integral T = std::uint8_t>
    T number() {
        std::uint64_t value = 0;
        const std::size_t count = std::min(sizeof(T), rest_.size());
        for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{rest_[i]} << (8 * i);
        rest_ = rest_.subspan(count);
        return static_cast<T>(value);
    }
    bool flag() { return (number() & 1U) != 0; }
    /// 0 … bound−1, of one byte; `bound` is at most 256.
    std::size_t below(std::size_t bound) { return number() % bound; }
    template <class T, std::size_t count>
    T one_of(const T (&all)[count]) {
        return all[below(count)];
    }
    /// 0 … 2^40−1, short ones as likely as long ones.
    std::int64_t magnitude() {
        const std::size_t bits = below(41);
        const std::uint64_t ones = (std::uint64_t{1} << bits) - 1;
        return static_cast<std::int64_t>(bits <= 8 ? number() & ones
                                                   : number<std::uint64_t>() & ones);
    }
    /// At most so many bytes; a length precedes them.
    std::string_view text(std::size_t bytes_max) {
        return take(std::min<std::size_t>(number(), bytes_max));
    }
    std::string_view long_text(std::size_t bytes_max) {
        return take(std::min<std::size_t>(number<std::uint16_t>(), bytes_max));
    }
    std::string_view rest() { return take(rest_.size()); }

private:
    std::string_view take(std::size_t count) {
        const auto taken = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }

    std::span<const std::uint8_t> rest_;
};

[[noreturn]] inline void broken(std::string_view what, const std::source_location& at) {
    std::fprintf(stderr, "%s:%u: broken: %.*s\n", at.file_name(), at.line(),
                 static_cast<int>(what.size()), what.data());
    std::abort();
}

/// Must hold for every input.
inline void expect(bool holds, std::string_view what,
                   const std::source_location& at = std::source_location::current()) {
    if (!holds) [[unlikely]]
        broken(what, at);
}

}  // namespace bullring::fuzz

/// The one function of a target. What it returns is libFuzzer's business: 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
