// Requests as the server hands them on, without a server: method, path, body and headers of any
// bytes. Nobody is let in without a token, and every answer is one.
#include <map>

#include "src/http/head_meter.hpp"
#include "tests/fuzz/http_node.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;

namespace {

/// A head is too large by its length alone, however it comes.
void check_meter(std::string_view text, std::size_t piece) {
    HeadMeter at_once;
    HeadMeter in_pieces;
    bool fits = true;
    const bool all_fits = at_once.read(text) == HeadMeter::Verdict::fits;
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
        fits = in_pieces.read(text.substr(0, piece)) == HeadMeter::Verdict::fits && fits;
    fuzz::expect(fits == all_fits, "the pieces make a difference");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    check_meter({reinterpret_cast<const char*>(data), size}, 1 + input.below(64));
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
