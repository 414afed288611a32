#include "src/options/duration_text.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "protocol/timing.hpp"

namespace bullring::duration_text_test {

namespace {

using bullring::parse_duration;
using bullring::protocol::Duration;

struct Right {
    const char* text;
    std::int64_t ns;
};

struct Wrong {
    const char* text;
    const char* why;
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
        REQUIRE(parsed.has_value());
        CHECK(parsed->ns == right.ns);
    }
}

TEST_CASE("duration: what is no duration is refused, quoted, with the reason") {
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
             Wrong{"5s ", "unknown unit \"s \""},
             Wrong{"5 s", "unknown unit \" s\""},
             Wrong{"5sec", "unknown unit \"sec\""},
             Wrong{"5S", "unknown unit \"S\""},
             Wrong{"5d", "unknown unit \"d\""},
             Wrong{"1h30m", "unknown unit \"h30m\""},
             Wrong{"1e3ms", "unknown unit"},
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
        REQUIRE_FALSE(parsed.has_value());
        CHECK(parsed.error().starts_with("\"" + std::string(wrong.text) + "\""));
        CHECK(parsed.error().find(wrong.why) != std::string::npos);
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
        RC_ASSERT(parsed.has_value());
        RC_ASSERT(*parsed == duration);
    }));
}

}  // namespace bullring::duration_text_test
