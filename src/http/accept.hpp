// Chooses the form of an answer by the Accept header of its request (RFC 9110, 12.5.1). Pure.
#pragma once

#include <optional>
#include <string_view>

namespace bullring {

/// How much it wants a media type, 0 … 1: by the entry that names it most precisely.
struct Preference {
    double quality = 0;  // 0: not at all
    bool named = false;  // as itself, and not as a part of "type/*" or "*/*"
};

/// `type` is like "text/html". An empty header accepts everything and names nothing.
Preference preference(std::string_view accept, std::string_view type);

/// Whether it names `type`, and would not rather have `other`.
bool asks_for(std::string_view accept, std::string_view type, std::string_view other);

}  // namespace bullring
