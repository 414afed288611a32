#include "src/http/request_target.hpp"

#include <charconv>

#include <http_parser.h>

#include "src/base/text/text.hpp"
#include "src/http/tokens.hpp"

namespace bullring {

namespace {

/// nullopt: a % stands before what are no two hexadecimal digits, or it comes out as no UTF-8.
std::optional<std::string> decoded(std::string_view path) {
    std::string text;
    for (; !path.empty(); path.remove_prefix(1)) {
        if (path.front() != '%') {
            text += path.front();
            continue;
        }
        unsigned char byte = 0;
        if (path.size() < 3 ||
            std::from_chars(&path[1], &path[1] + 2, byte, 16).ptr != &path[1] + 2)
            return std::nullopt;
        text += static_cast<char>(byte);
        path.remove_prefix(2);
    }
    return is_utf8(text) ? std::optional(text) : std::nullopt;
}

}  // namespace

std::optional<RequestTarget> request_target(std::string_view target) {
    http_parser_url parts{};
    http_parser_url_init(&parts);
    if (http_parser_parse_url(target.data(), target.size(), 0, &parts) != 0) return std::nullopt;
    const auto has = [&](http_parser_url_fields field) {
        return (parts.field_set & (1U << field)) != 0;
    };
    const auto part = [&](http_parser_url_fields field) {
        const auto& place = parts.field_data[field];
        return has(field) ? target.substr(place.off, place.len) : std::string_view();
    };
    RequestTarget asked;
    if (has(UF_SCHEMA)) {
        if (!equal_ignoring_case(part(UF_SCHEMA), "http") &&
            !equal_ignoring_case(part(UF_SCHEMA), "https"))
            return std::nullopt;
        const std::size_t begin = part(UF_SCHEMA).size() + std::string_view("://").size();
        std::string_view authority = target.substr(begin);
        authority = authority.substr(0, authority.find_first_of("/?#"));
        asked.host = authority.substr(authority.rfind('@') + 1);
    }
    auto path = decoded(has(UF_PATH) ? part(UF_PATH) : "/");
    if (!path) return std::nullopt;
    asked.path = std::move(*path);
    return asked;
}

}  // namespace bullring
