#include "src/base/text/text.hpp"

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

TEST_CASE("text: what goes into a line has nothing that a terminal obeys, and is UTF-8") {
    using bullring::one_line;
    CHECK(one_line("plain ö 2^63−1 \"'\\") == "plain ö 2^63−1 \"'\\");
    CHECK(one_line("a\nb\r\nc\td") == "a b  c d");
    CHECK(one_line("\x1b]0;x\x07\x7f") == "\\x1b]0;x\\x07\\x7f");
    CHECK(one_line(std::string(1, '\0')) == "\\x00");
    CHECK(one_line("\xc2\x9b"
                   "31m") == "\\xc2\\x9b31m");  // CSI as one character
    CHECK(one_line("\xc2\xa0") == "\xc2\xa0");
    CHECK(one_line("\xff\xc3") == "\\xff\\xc3");
    std::string all;
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            all += static_cast<char>(first);
            all += static_cast<char>(second);
        }
    }
    const std::string shown = one_line(all);
    CHECK(is_utf8(shown));
    for (const char c : shown) {
        const auto byte = static_cast<unsigned char>(c);
        REQUIRE((byte >= 0x20 && byte != 0x7f));
    }
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
