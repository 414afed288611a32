#include "src/http/request_target.hpp"

#include <http_parser.h>
#include <restinio/utils/percent_encoding.hpp>

#include "src/http/tokens.hpp"

namespace bullring {

namespace {

/// In a path '+' stands for itself; restinio decodes as in a query, where it is a space.
std::optional<std::string> decoded(std::string_view path) {
    std::string encoded;
    for (const char c : path)
        if (c == '+')
            encoded += "%2B";
        else
            encoded += c;
    const auto text =
        restinio::utils::try_unescape_percent_encoding<restinio::utils::relaxed_unescape_traits>(
            encoded);
    if (!text) return std::nullopt;
    return *text;
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
