// The unit tests' main(), and how long one case may take.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/support/case_deadline.hpp"

REGISTER_LISTENER("deadline", 1, bullring::test::CaseDeadline);
