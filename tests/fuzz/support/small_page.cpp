// The files of the page for people, which the program has compiled in: here they are one.
#include <array>

#include "src/http/page.hpp"

namespace bullring {

std::span<const PageFile> page_files() {
    static constexpr std::array files{PageFile{"/page.js", "text/javascript", "start();"}};
    return files;
}

}  // namespace bullring
