#include "src/options/text.hpp"

#include <string>

#include <doctest/doctest.h>

namespace bullring::text_test {

using bullring::in_quotes;
using bullring::is_utf8;

TEST_CASE("text: quoting keeps a text on one line and readable") {
    CHECK(in_quotes("") == "\"\"");
    CHECK(in_quotes("plain ö 2^63−1") == "\"plain ö 2^63−1\"");
    CHECK(in_quotes("a\nb\x1b[0m\x7f") == "\"a\\x0ab\\x1b[0m\\x7f\"");
    CHECK(in_quotes("\xff\xfe") == "\"\\xff\\xfe\"");
    const std::string cut = in_quotes(std::string(5000, 'x'));
    CHECK(cut.size() < 200);
    CHECK(cut.ends_with("…\""));
}

TEST_CASE("text: only well-formed UTF-8 counts as UTF-8") {
    for (const char* right :
         {"", "a", "ö", "−", "\xf0\x9f\x90\x82", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
        CAPTURE(right);
        CHECK(is_utf8(right));
    }
    for (const char* wrong :
         {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80", "\xe2\x88", "\xe2\x28\xa1", "\xff"}) {
        CAPTURE(in_quotes(wrong));
        CHECK_FALSE(is_utf8(wrong));
    }
}

TEST_CASE("text: trimming takes blanks from both ends only") {
    CHECK(bullring::trimmed(" \t a b\r\n") == "a b");
    CHECK(bullring::trimmed(" \t\r\n").empty());
}

}  // namespace bullring::text_test
