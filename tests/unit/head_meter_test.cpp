#include "src/http/head_meter.hpp"

#include <string>

#include <doctest/doctest.h>

namespace bullring::head_meter_test {
namespace {

using Verdict = HeadMeter::Verdict;

std::string head_of(std::size_t length) {
    std::string head = "GET / HTTP/1.1\r\nX: ";
    head.append(length - head.size() - 4, 'a');
    return head + "\r\n\r\n";
}

TEST_CASE("head meter: a head of 8 KiB fits, one byte more does not") {
    CHECK(HeadMeter().read(head_of(HeadMeter::head_max)) == Verdict::fits);
    CHECK(HeadMeter().read(head_of(HeadMeter::head_max + 1)) == Verdict::too_large);
}

TEST_CASE("head meter: however it is cut into pieces") {
    const std::string head = head_of(HeadMeter::head_max + 1);
    HeadMeter meter;
    std::size_t fits = 0;
    for (const char byte : head) fits += meter.read({&byte, 1}) == Verdict::fits ? 1U : 0U;
    CHECK(fits == HeadMeter::head_max);
}

TEST_CASE("head meter: the body does not count, and the next head counts anew") {
    HeadMeter meter;
    CHECK(meter.read(head_of(100) + std::string(100'000, 'b')) == Verdict::fits);
    CHECK(meter.read(std::string(100'000, 'b')) == Verdict::fits);
    meter.begin_again();
    CHECK(meter.read(head_of(HeadMeter::head_max + 1)) == Verdict::too_large);
}

TEST_CASE("head meter: a head that never ends is too large at some time") {
    HeadMeter meter;
    CHECK(meter.read(std::string(HeadMeter::head_max, 'a')) == Verdict::fits);
    CHECK(meter.read("a") == Verdict::too_large);
}

TEST_CASE("head meter: empty lines before a head are no head") {
    CHECK(HeadMeter().read("\r\n\r\n\n" + head_of(HeadMeter::head_max + 1)) == Verdict::too_large);
}

TEST_CASE("head meter: a head ends where the parser takes it to end") {
    const std::string rest(HeadMeter::head_max, 'a');
    for (const char* end : {"\r\n\r\n", "\n\n", "\n\r\n", "\r\n\r4", "\n\r\r"}) {
        CAPTURE(end);
        CHECK(HeadMeter().read("GET / HTTP/1.1" + std::string(end) + rest) == Verdict::fits);
    }
    for (const char* line : {"\r\n", "\r\r", "\n"}) {
        CAPTURE(line);
        CHECK(HeadMeter().read("GET / HTTP/1.1" + std::string(line) + rest) == Verdict::too_large);
    }
}

}  // namespace
}  // namespace bullring::head_meter_test
