// The pages of the manual as they were when the program was built. CMakeLists.txt here writes the
// source that defines them.
#pragma once

#include <span>
#include <string_view>

namespace bullring {

struct ManualPage {
    std::string_view name;  // "bullring-run"
    char section = '1';     // as of man pages
    std::string_view text;  // plain; Markdown if the build had no pandoc
};

std::span<const ManualPage> manual_pages();

}  // namespace bullring
