#include "src/manual/plain_text.hpp"

#include <string>

#include <doctest/doctest.h>

#include "src/manual/pages.hpp"

namespace bullring::plain_text_test {

TEST_CASE("plain text: marks go, and code is left alone") {
    CHECK(plain_text("# A *b*\n\n**c** `d*` 2 * 3 \\*\n") == "A b\n\nc d* 2 * 3 *\n");
    CHECK(plain_text("[a(1)](b.md), ![c](d.svg) and [e\nf](g#h) [i]\n") ==
          "a(1), c and e\nf [i]\n");
    CHECK(plain_text("`[&](int x) { *y }`\n") == "[&](int x) { *y }\n");
    CHECK(plain_text("a\n\n<!-- b -->\n\nc\n") == "a\n\nc\n");
}

TEST_CASE("plain text: blocks of code are indented, and definitions are") {
    CHECK(plain_text("a\n\n```cpp\n# *b*\n\n| c |\n```\n\nd\n") ==
          "a\n\n    # *b*\n\n    | c |\n\nd\n");
    CHECK(plain_text("`a`\n:   b\n    c\n") == "a\n    b\n    c\n");
}

TEST_CASE("plain text: a table has columns, and cells that are too wide are wrapped") {
    CHECK(plain_text("| a | b |\n|---|---|\n| `x\\|y` | – |\n| z |  |\n") ==
          "a    b\n------\nx|y  –\nz\n");
    CHECK(plain_text("| | |\n|---|---|\n| a | b |\n") == "a  b\n");
    CHECK(plain_text("| | |\n|---|---|\n| one | two three four |\n", 16) ==
          "one  two three\n     four\n");
}

TEST_CASE("plain text: a mark that is not closed ends nothing") {
    for (const char* text :
         {"[a", "[a](", "[a](b", "`a", "a\\", "```\na", "| a", "|", "|\n|", "#"}) {
        CAPTURE(text);
        CHECK(plain_text(text).size() <= 8);
    }
    CHECK(plain_text("").empty());
}

TEST_CASE("manual: each page says in one line what it is about, and has no line of raw marks") {
    CHECK(manual_pages().size() > 12);
    for (const ManualPage& page : manual_pages()) {
        CAPTURE(std::string(page.name));
        const std::string name = "## NAME\n\n" + std::string(page.name) + " - ";
        CHECK(page.text.find(name) != std::string_view::npos);
        const std::string plain = plain_text(page.text);
        CHECK(plain.find("\n## ") == std::string::npos);
        CHECK(plain.find("\n|") == std::string::npos);
    }
}

}  // namespace bullring::plain_text_test
