// How an answer looks on the wire: its status line and headers, whoever writes them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/http/answers.hpp"

namespace bullring {

const char* reason_phrase(int status);

/// Its headers but those about length and connection; "Allow" stands last if there is one.
std::vector<std::pair<std::string_view, std::string_view>> http_headers(const HttpAnswer& answer);

/// The whole answer, behind which the connection is closed.
std::string last_answer(const HttpAnswer& answer);

}  // namespace bullring
