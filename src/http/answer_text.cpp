#include "src/http/answer_text.hpp"

#include <fmt/format.h>
#include <http_parser.h>

namespace bullring {

std::string head_of(const HttpAnswer& answer, bool keeps_alive) {
    std::string text = fmt::format(
        "HTTP/1.1 {} {}\r\nConnection: {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\n"
        "Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\n",
        answer.status, http_status_str(static_cast<http_status>(answer.status)),
        keeps_alive ? "keep-alive" : "close", answer.type, answer.policy);
    if (!answer.allow.empty()) text += fmt::format("Allow: {}\r\n", answer.allow);
    return text;
}

std::string last_answer(const HttpAnswer& answer) {
    return head_of(answer, false) +
           fmt::format("Content-Length: {}\r\n\r\n{}", answer.body.size(), answer.body);
}

}  // namespace bullring
