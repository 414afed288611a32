// Owns: which commit of the sources this program was built from, told at each build by write.cmake.
#pragma once

#include <string>
#include <string_view>

namespace bullring {

/// 12 hexadecimal digits, and "-dirty" if files were changed since; empty: nobody knows.
std::string_view built_from();

/// "0.1.0 (1a2b3c4d5e6f)", for people.
std::string version_text();

}  // namespace bullring
