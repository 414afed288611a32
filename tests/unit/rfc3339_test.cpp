// The time of day as text.
#include "src/base/text/rfc3339.hpp"

#include <ctime>

#include <doctest/doctest.h>

namespace bullring::rfc3339_test {

TEST_CASE("rfc3339: known moments") {
    CHECK(Rfc3339(0).text() == "1970-01-01T00:00:00.000000Z");
    CHECK(Rfc3339(1'709'210'096'789'012'345).text() == "2024-02-29T12:34:56.789012Z");
    // The end of a certificate that has none.
    CHECK(Rfc3339(std::chrono::seconds(253'402'300'799)).text() == "9999-12-31T23:59:59.000000Z");
    CHECK(Rfc3339(std::chrono::seconds(1'709'210'096)).date() == "2024-02-29");
    CHECK(Rfc3339(4'102'444'799'999'999'999).text() == "2099-12-31T23:59:59.999999Z");
}

TEST_CASE("rfc3339: each day of a century is the C library's") {
    for (std::time_t at = 0; at < std::time_t{100} * 366 * 86'400; at += 86'399) {
        std::tm utc{};
        ::gmtime_r(&at, &utc);
        char text[32];
        std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000000Z", &utc);
        REQUIRE(Rfc3339(std::int64_t{at} * 1'000'000'000).text() == text);
    }
}

}  // namespace bullring::rfc3339_test
