// Requests as the server hands them on, without a server: method, path, body and headers of any
// bytes. Nobody is let in without a token, and every answer is one.
#include <algorithm>
#include <map>

#include "src/http/request_parser.hpp"
#include "tests/fuzz/http_node.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;

namespace {

/// A request is the same however it comes.
void check_pieces(std::string_view text, std::size_t piece) {
    if (text.empty()) return;
    RequestParser at_once;
    RequestParser in_pieces;
    const std::size_t used = at_once.read(text);
    std::size_t used_in_pieces = 0;
    while (!text.empty() && !in_pieces.is_whole() && in_pieces.error() == HPE_OK) {
        used_in_pieces += in_pieces.read(text.substr(0, piece));
        text.remove_prefix(std::min(piece, text.size()));
    }
    fuzz::expect(at_once.is_whole() == in_pieces.is_whole() &&
                     at_once.error() == in_pieces.error() &&
                     at_once.target() == in_pieces.target() && at_once.body() == in_pieces.body(),
                 "the pieces make a difference");
    fuzz::expect(!at_once.is_whole() || used == used_in_pieces, "another end");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    check_pieces({reinterpret_cast<const char*>(data), size}, 1 + input.below(64));
    const std::string_view method =
        input.one_of<std::string_view>({"GET", "HEAD", "POST", "OPTIONS", "PUT"});
    const std::string_view path = input.text(64);
    std::map<std::string_view, std::string_view> headers;
    for (const char* name : {"Accept", "Authorization", "Origin", "Host", "Sec-Fetch-Site"})
        headers[name] = input.text(128);
    const HttpRequest request{method, path, input.rest(), [&](std::string_view name) {
                                  const auto found = headers.find(name);
                                  return found == headers.end() ? std::string_view()
                                                                : found->second;
                              }};
    for (const HttpAnswer& told : {fuzz::answer_to(request), fuzz::answer_to_resign(request)})
        fuzz::expect(told.status >= 200 && told.status < 600, "an answer without a status");
    return 0;
}
