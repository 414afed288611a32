// Reads one request of HTTP/1, however its bytes come, and keeps to the limits of its size. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <http_parser.h>

namespace bullring {

class RequestParser {
public:
    static constexpr std::size_t head_max = 8 * 1024;
    static constexpr std::size_t body_max = 1024;

    RequestParser();
    // The parser points at it.
    RequestParser(const RequestParser&) = delete;
    RequestParser& operator=(const RequestParser&) = delete;

    /// Takes the bytes that were read next, and returns how many are of this request. What is wrong
    /// with it, error() says.
    std::size_t read(std::string_view bytes);
    bool is_whole() const { return whole_; }
    /// HPE_OK as long as it may become a request.
    http_errno error() const;
    /// The client waits for the word to send its body (RFC 9110, 10.1.1). Once.
    bool takes_word() { return std::exchange(waits_for_word_, false) && !whole_; }

    // ---- Of a whole request.
    const char* method() const { return http_method_str(static_cast<http_method>(parser_.method)); }
    const std::string& target() const { return target_; }
    const std::string& body() const { return body_; }
    /// The first of that name; empty: it has none.
    std::string_view header(std::string_view name) const;
    /// Another request may follow on the connection.
    bool keeps_alive() const { return keeps_alive_; }
    /// It is of HTTP/1.1, and so an answer may come in chunks.
    bool takes_chunks() const { return takes_chunks_; }

    /// All of it that has come, as far as a head may be long.
    const std::string& seen() const { return seen_; }

private:
    static const http_parser_settings& callbacks();
    static RequestParser& of(http_parser* parser) {
        return *static_cast<RequestParser*>(parser->data);
    }
    int on_head();

    http_parser parser_{};
    std::string seen_;
    std::string target_;
    std::vector<std::pair<std::string, std::string>> headers_;
    bool in_value_ = false;  // of the last header
    std::string body_;
    bool head_is_whole_ = false;
    bool whole_ = false;
    bool waits_for_word_ = false;
    bool keeps_alive_ = false;
    bool takes_chunks_ = false;
};

}  // namespace bullring
