// Answers bytes that the HTTP parser has given up on. Pure.
#pragma once

#include <string_view>

#include <http_parser.h>

#include "src/http/http_request.hpp"

namespace bullring {

/// `bytes`: what had come when it gave up, with the request line if that is what is wrong.
/// `handler` is asked what a method that the parser doesn't know would get.
HttpAnswer answer_to_rubbish(http_errno error, std::string_view bytes, const HttpHandler& handler);

/// Of a request whose target is none, or encoded wrongly.
HttpAnswer answer_to_wrong_target();

}  // namespace bullring
