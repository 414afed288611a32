#include "src/http/answer_text.hpp"

#include <fmt/format.h>

namespace bullring {

const char* reason_phrase(int status) {
    switch (status) {
        case 200: return "OK";
        case 202: return "Accepted";
        case 400: return "Bad Request";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 409: return "Conflict";
        case 413: return "Content Too Large";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 503: return "Service Unavailable";
        case 505: return "HTTP Version Not Supported";
        default: return "Error";
    }
}

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
