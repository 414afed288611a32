// Answers `/`: the page for people, made of the files in page/, which are compiled in; and for
// programs the answer of a leader-elector sidecar. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/http/answers.hpp"

namespace bullring {

struct PageFile {
    std::string_view path;  // as it is asked for
    const char* type;
    std::string_view text;
};
/// Made from page/ by embed.cmake. The first is that of `/`.
std::span<const PageFile> page_files();

HttpAnswer page_answer(const PageFile& file);

/// By the Accept header: a browser names HTML, and other clients don't.
bool wants_page(std::string_view accept);

/// {"name":…,"last_update":…}: the leader's advertised string, else its ID; empty when there is
/// none. `last_ns`: CLOCK_BOOTTIME of the last change; `wall_ns`: CLOCK_REALTIME now.
HttpAnswer elector_answer(const AtTheMoment& at, std::int64_t last_ns, std::int64_t wall_ns);

}  // namespace bullring
