// How long tests in real time wait for what must come.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdlib>

namespace bullring::test {

/// However slow the machine is: scripts/test has measured that and says so by BULLRING_SLOWNESS.
inline const std::chrono::seconds generous = [] {
    const char* slowness = std::getenv("BULLRING_SLOWNESS");
    return std::chrono::seconds(slowness == nullptr ? 60 : std::lround(60 * std::atof(slowness)));
}();

}  // namespace bullring::test
