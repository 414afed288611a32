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

}  // namespace
}  // namespace bullring::head_meter_test
