#include "src/http/answer_text.hpp"

#include <fmt/format.h>
#include <http_parser.h>

namespace bullring {

const char* reason_phrase(int status) { return http_status_str(static_cast<http_status>(status)); }

std::vector<std::pair<std::string_view, std::string_view>> http_headers(const HttpAnswer& answer) {
    std::vector<std::pair<std::string_view, std::string_view>> headers{
        {"Content-Type", answer.type},
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy", answer.policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"}};
    if (!answer.allow.empty()) headers.emplace_back("Allow", answer.allow);
    return headers;
}

std::string last_answer(const HttpAnswer& answer) {
    std::string text = fmt::format("HTTP/1.1 {} {}\r\nConnection: close\r\nContent-Length: {}\r\n",
                                   answer.status, reason_phrase(answer.status), answer.body.size());
    for (const auto& [name, value] : http_headers(answer))
        text += fmt::format("{}: {}\r\n", name, value);
    return text + "\r\n" + answer.body;
}

}  // namespace bullring
