// The unit tests' main(), and how long one case may take.
//
//   --rewrite   the tests that are text (protocol/*/testdata/*.txt) write down what they find
#define DOCTEST_CONFIG_IMPLEMENT
#include <algorithm>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/support/case_deadline.hpp"
#include "tests/support/text_cases.hpp"

REGISTER_LISTENER("deadline", 1, bullring::test::CaseDeadline);

int main(int argc, char** argv) {
    bullring::test::rewrite_text_cases =
        std::find(argv, argv + argc, std::string_view("--rewrite")) != argv + argc;
    return doctest::Context(argc, argv).run();
}
