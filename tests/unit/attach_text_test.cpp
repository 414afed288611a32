#include "src/task/attach/attach_text.hpp"

#include <string>

#include <doctest/doctest.h>

#include "src/base/text/text.hpp"
#include "src/task/attach/attach_client.hpp"

namespace bullring::attach_text_test {

TEST_CASE("attach text: what is wrong is told in a line, however long it is") {
    std::string wild;
    while (wild.size() < 3600) wild += "\\u0001\xc3\xa9";
    for (const std::string& line : {"{\"op\":\"" + wild + "\"}", "x" + wild,
                                    "{\"op\":\"campaign\",\"stall_after_ms\":\"" + wild + "\"}",
                                    "{\"op\":\"campaign\",\"advertised\":\"" + wild + "\"}",
                                    "{\"op\":\"campaign\",\"on_loss\":\"" + wild + "\"}",
                                    "{\"op\":\"done\",\"again\":[\"" + wild + "\"]}"}) {
        CAPTURE(line.substr(0, 40));
        const auto request = attach_request_in(line);
        REQUIRE_FALSE(request);
        CHECK(is_utf8(request.error()));
        CHECK(attach_error_line(request.error()).size() <= AttachClient::line_bytes_max);
    }
}

}  // namespace bullring::attach_text_test
