#include "src/http/request_parser.hpp"

#include <algorithm>
#include <climits>

#include "src/http/tokens.hpp"

namespace bullring {

RequestParser::RequestParser() {
    // Once: the library has one limit for all of the process, and several threads may serve.
    static const bool limited = (http_parser_set_max_header_size(head_max), true);
    static_cast<void>(limited);
    http_parser_init(&parser_, HTTP_REQUEST);
    parser_.data = this;
}

const http_parser_settings& RequestParser::callbacks() {
    static const http_parser_settings settings = [] {
        http_parser_settings made{};
        made.on_url = [](http_parser* parser, const char* at, std::size_t length) {
            of(parser).target_.append(at, length);
            return 0;
        };
        made.on_header_field = [](http_parser* parser, const char* at, std::size_t length) {
            RequestParser& request = of(parser);
            if (request.head_is_whole_) return 0;  // a trailer
            if (request.headers_.empty() || request.in_value_) request.headers_.emplace_back();
            request.in_value_ = false;
            request.headers_.back().first.append(at, length);
            return 0;
        };
        made.on_header_value = [](http_parser* parser, const char* at, std::size_t length) {
            RequestParser& request = of(parser);
            if (request.head_is_whole_) return 0;
            request.in_value_ = true;
            request.headers_.back().second.append(at, length);
            return 0;
        };
        made.on_headers_complete = [](http_parser* parser) { return of(parser).on_head(); };
        made.on_body = [](http_parser* parser, const char* at, std::size_t length) {
            std::string& body = of(parser).body_;
            if (body.size() + length > body_max) return 1;
            body.append(at, length);
            return 0;
        };
        made.on_message_complete = [](http_parser* parser) {
            RequestParser& request = of(parser);
            request.whole_ = true;
            request.keeps_alive_ = http_should_keep_alive(parser) != 0;
            http_parser_pause(parser, 1);  // what follows is another request
            return 0;
        };
        return made;
    }();
    return settings;
}

int RequestParser::on_head() {
    head_is_whole_ = true;
    // A server may ignore the wish (RFC 9110, 7.8).
    parser_.upgrade = 0;
    const bool sized = parser_.content_length != ULLONG_MAX;
    if (sized && parser_.content_length > body_max) return -1;  // 1 would say that it has none
    takes_chunks_ = parser_.http_major == 1 && parser_.http_minor >= 1;
    const bool has_body = (parser_.flags & F_CHUNKED) != 0 || (sized && parser_.content_length > 0);
    waits_for_word_ =
        has_body && takes_chunks_ && equal_ignoring_case(header("Expect"), "100-continue");
    return 0;
}

std::size_t RequestParser::read(std::string_view bytes) {
    seen_.append(bytes.substr(0, head_max - std::min(head_max, seen_.size())));
    return http_parser_execute(&parser_, &callbacks(), bytes.data(), bytes.size());
}

http_errno RequestParser::error() const {
    const http_errno error = HTTP_PARSER_ERRNO(&parser_);
    return error == HPE_PAUSED ? HPE_OK : error;
}

std::string_view RequestParser::header(std::string_view name) const {
    for (const auto& [one, value] : headers_)
        if (equal_ignoring_case(one, name)) return value;
    return {};
}

}  // namespace bullring
