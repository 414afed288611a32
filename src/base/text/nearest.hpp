// Owns: which of the known words a wrong one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bullring {

/// Where one of the two is short one letter may be wrong, else two. Empty when none is near. Where
/// two are equally near the first of them.
std::string_view nearest(std::string_view wrong, std::span<const std::string_view> known);

/// " did you mean node?", or nothing: for the middle of a sentence.
std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known);

}  // namespace bullring
