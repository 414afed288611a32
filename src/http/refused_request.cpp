#include "src/http/refused_request.hpp"

#include <algorithm>
#include <optional>

#include "src/http/request_target.hpp"
#include "src/http/tokens.hpp"

namespace bullring {

namespace {

/// Of "METHOD target HTTP/1.x"; nullopt: it is not whole, or no such line.
std::optional<std::string> path_asked_for(std::string_view bytes) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of("\r\n"), bytes.size()));
    const std::string_view line = bytes.substr(0, bytes.find_first_of("\r\n"));
    const std::size_t method_end = std::min(line.find(' '), line.size());
    const std::size_t target_end = line.rfind(' ');
    if (target_end == std::string_view::npos || target_end <= method_end) return std::nullopt;
    const std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
    if (!is_http_token(line.substr(0, method_end)) ||
        !line.substr(target_end + 1).starts_with("HTTP/1."))
        return std::nullopt;
    const auto asked = request_target(target);
    if (!asked) return std::nullopt;
    return asked->path;
}

/// Holds the answer of a handler that answers at once.
class AnswerAtOnce final : public HttpReply {
public:
    void send(const HttpAnswer& answer) override { answer_ = answer; }
    /// A stream is opened by GET alone.
    std::unique_ptr<HttpStream> stream(const char* /*type*/) override { return nullptr; }
    const HttpAnswer& answer() const { return answer_; }

private:
    HttpAnswer answer_;
};

/// The parser's method may be the tail of a longer one whose head came in an earlier segment: "B"
/// and then "GET /events …". So the handler is asked with a method that nothing allows, and answers
/// at once.
HttpAnswer answer_to_unknown_method(std::string_view path, const HttpHandler& handler) {
    const auto reply = std::make_shared<AnswerAtOnce>();
    handler({"-", path, "", [](std::string_view) { return std::string_view(); }}, reply);
    return reply->answer();
}

}  // namespace

HttpAnswer answer_to_wrong_target() {
    return {400, "expected a path, or http://HOST:PORT/PATH, with %XX for each byte of UTF-8\n",
            "text/plain"};
}

HttpAnswer answer_to_rubbish(http_errno error, std::string_view bytes, const HttpHandler& handler) {
    switch (error) {
        case HPE_INVALID_METHOD:
            if (const auto path = path_asked_for(bytes))
                return answer_to_unknown_method(*path, handler);
            break;
        case HPE_INVALID_VERSION: return {505, "expected HTTP/1.1 or 1.0\n", "text/plain"};
        case HPE_CB_headers_complete:
        case HPE_CB_body: return {413, "a body has at most 1 KiB here\n", "text/plain"};
        case HPE_HEADER_OVERFLOW:
            return {431, "the head of a request has at most 8 KiB here\n", "text/plain"};
        default: break;
    }
    return {400, "this is no request of HTTP/1.1\n", "text/plain"};
}

}  // namespace bullring
