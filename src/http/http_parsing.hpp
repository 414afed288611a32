// restinio's settings of the HTTP parser, with what restinio leaves out: which connection is being
// parsed, "100 Continue", and no upgrades. Included by http_server.cpp alone.
#pragma once

#include <restinio/all.hpp>

#include "src/http/http_connection.hpp"
#include "src/http/tokens.hpp"

namespace bullring {

/// A client that waits for the word to send its body (RFC 9110, 10.1.1).
inline bool waits_for_continue(const http_parser& parser) {
    const bool has_body = (parser.flags & F_CHUNKED) != 0 ||
                          (parser.content_length > 0 && parser.content_length != ULLONG_MAX);
    if (!has_body || parser.http_major != 1 || parser.http_minor < 1) return false;
    const auto& context = *static_cast<restinio::impl::http_parser_ctx_t*>(parser.data);
    const auto expected = context.m_header.try_get_field(restinio::http_field::expect);
    return expected && equal_ignoring_case(std::string_view(expected->data(), expected->size()),
                                           "100-continue");
}

template <class Methods>
http_parser_settings parser_settings() {
    http_parser_settings settings = restinio::impl::create_parser_settings<Methods>();
    settings.on_message_begin = [](http_parser* parser) {
        if (const HttpParsing* const now = HttpParsing::current())
            now->connection()->parser = parser;
        return 0;
    };
    settings.on_headers_complete = [](http_parser* parser) {
        // A server may ignore the wish (RFC 9110, 7.8); restinio would wait for an upgrade.
        parser->upgrade = 0;
        const int verdict = restinio::impl::restinio_headers_complete_cb(parser);
        const HttpParsing* const now = HttpParsing::current();
        if (verdict == 0 && now != nullptr && waits_for_continue(*parser))
            now->connection()->send_now("HTTP/1.1 100 Continue\r\n\r\n");
        return verdict;
    };
    return settings;
}

}  // namespace bullring
