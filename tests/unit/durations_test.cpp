#include "protocol/values/durations.hpp"

#include <cstdint>
#include <string_view>
#include <variant>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace bullring::durations_test {

namespace {

using protocol::Duration;
using protocol::NoDuration;
using protocol::parse_duration;

struct Right {
    const char* text;
    std::int64_t ns;
};

struct Wrong {
    const char* text;
    const char* why;
    const char* part = "";  // of the text, that `why` speaks of
};

}  // namespace

TEST_CASE("duration: each unit is understood, and fractions that come out in nanoseconds") {
    for (const Right& right : {
             Right{"1ns", 1},
             Right{"250us", 250'000},
             Right{"50ms", 50'000'000},
             Right{"2s", 2'000'000'000},
             Right{"3m", 180'000'000'000},
             Right{"1h", 3'600'000'000'000},
             Right{"8760h", 31'536'000'000'000'000},
             Right{"0s", 0},
             Right{"0.5ms", 500'000},
             Right{"1.5h", 5'400'000'000'000},
             Right{"1.000000001s", 1'000'000'001},
             Right{"1.0000000010s", 1'000'000'001},
             Right{"0050ms", 50'000'000},
         }) {
        CAPTURE(right.text);
        const auto parsed = parse_duration(right.text);
        REQUIRE(std::holds_alternative<Duration>(parsed));
        CHECK(std::get<Duration>(parsed).ns == right.ns);
    }
}

TEST_CASE("duration: what is no duration is refused with the reason and its place") {
    for (const Wrong& wrong : {
             Wrong{"", "is not a duration"},
             Wrong{"50", "has no unit"},
             Wrong{"0", "has no unit"},
             Wrong{"1.5", "has no unit"},
             Wrong{"-50ms", "is negative"},
             Wrong{"+50ms", "is not a duration"},
             Wrong{"ms", "is not a duration"},
             Wrong{".5s", "is not a duration"},
             Wrong{"5.s", "is not a duration"},
             Wrong{"1.2.3s", "is not a duration"},
             Wrong{" 5s", "is not a duration"},
             Wrong{"5s ", "has an unknown unit", "s "},
             Wrong{"5 s", "has an unknown unit", " s"},
             Wrong{"5sec", "has an unknown unit", "sec"},
             Wrong{"5S", "has an unknown unit", "S"},
             Wrong{"5d", "has an unknown unit", "d"},
             Wrong{"1h30m", "has an unknown unit", "h30m"},
             Wrong{"1e3ms", "has an unknown unit", "e3ms"},
             Wrong{"0.5ns", "is finer than a nanosecond"},
             Wrong{"1.01ns", "is finer than a nanosecond"},
             Wrong{"1.0000000001s", "is finer than a nanosecond"},
             Wrong{"8761h", "is too long"},
             Wrong{"8760.1h", "is too long"},
             Wrong{"9223372036854775807s", "is too long"},
             Wrong{"99999999999999999999999999ns", "is too long"},
         }) {
        CAPTURE(wrong.text);
        const auto parsed = parse_duration(wrong.text);
        REQUIRE(std::holds_alternative<NoDuration>(parsed));
        const auto& none = std::get<NoDuration>(parsed);
        CHECK(none.why.starts_with(wrong.why));
        CHECK(none.part == wrong.part);
    }
}

TEST_CASE("duration: what to_text writes is the shortest, and parse_duration reads it back") {
    CHECK(to_text(Duration{0}) == "0s");
    CHECK(to_text(Duration{500'000'000}) == "500ms");
    CHECK(to_text(Duration{2'000'000'000}) == "2s");
    CHECK(to_text(Duration{4'500'000}) == "4.5ms");
    CHECK(to_text(Duration{1'000'000'001}) == "1.000000001s");
    CHECK(to_text(Duration{-1'500}) == "-1.5us");
    CHECK(to_text(Duration{INT64_MIN}) == "-9223372036.854775808s");

    CHECK(rc::check("read back", [] {
        const auto ns = *rc::gen::inRange<std::int64_t>(0, 31'536'000'000'000'000);
        const auto coarse = *rc::gen::element<std::int64_t>(1, 1'000, 1'000'000, 1'000'000'000);
        const Duration duration{ns / coarse * coarse};
        const auto parsed = parse_duration(to_text(duration));
        RC_ASSERT(std::get<Duration>(parsed) == duration);
    }));
}

}  // namespace bullring::durations_test
