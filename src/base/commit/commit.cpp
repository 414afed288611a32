#include "src/base/commit/commit.hpp"

#include "bullring/version.hpp"

namespace bullring {

std::string version_text() {
    const std::string number(version);
    return built_from().empty() ? number : number + " (" + std::string(built_from()) + ")";
}

}  // namespace bullring
