// How an answer looks on the wire: its status line and headers, whoever writes them. Pure.
#pragma once

#include <string>

#include "src/http/answers.hpp"

namespace bullring {

/// Its status line and headers, but those about its length, and the empty line.
std::string head_of(const HttpAnswer& answer, bool keeps_alive);

/// The whole answer, behind which the connection is closed.
std::string last_answer(const HttpAnswer& answer);

}  // namespace bullring
