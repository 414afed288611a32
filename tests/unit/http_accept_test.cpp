#include <doctest/doctest.h>

#include "src/http/accept.hpp"
#include "src/http/page.hpp"
#include "src/http/refused_request.hpp"

namespace bullring::http_accept_test {
namespace {

double quality(std::string_view accept, std::string_view type) {
    return preference(accept, type).quality;
}

TEST_CASE("http accept: the most precise entry decides, and the highest of those") {
    CHECK(quality("", "text/html") == 1);
    CHECK(quality("text/html", "text/html") == 1);
    CHECK(quality("text/html;q=0.3, */*;q=0.8", "text/html") == 0.3);
    CHECK(quality("*/*;q=0.8, text/html;level=1;q=0.3", "text/html") == 0.3);
    CHECK(quality("text/*;q=0.5, */*;q=0.8", "text/html") == 0.5);
    CHECK(quality("text/*;q=0.5, */*;q=0.8", "application/json") == 0.8);
    CHECK(quality("text/html;v=1;q=0.2,text/html;v=2;q=0.7", "text/html") == 0.7);
    CHECK(quality("TEXT/HTML ; Q=0.4", "text/html") == 0.4);
    CHECK(quality("application/json", "text/html") == 0);
    CHECK(quality("text/html;q=0", "text/html") == 0);
    CHECK(quality("text/html;q=7", "text/html") == 1);
    CHECK(quality("text/html;q=many", "text/html") == 0);
    CHECK(quality(",;,text/html;;q=0.5,", "text/html") == 0.5);
}

TEST_CASE("http accept: the page is for those who name HTML and like nothing else better") {
    CHECK(wants_page("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
    CHECK(wants_page("application/json,text/html"));
    CHECK_FALSE(wants_page("application/json,text/html;q=0.5"));
    CHECK_FALSE(wants_page("text/html;q=0,*/*"));
    CHECK_FALSE(wants_page("*/*"));
    CHECK_FALSE(wants_page("text/*"));
    CHECK_FALSE(wants_page(""));
}

HttpAnswer to_rubbish(http_errno error, std::string_view bytes) {
    return answer_to_rubbish(error, bytes, [](const HttpRequest& request, HttpReplyPtr reply) {
        reply->send({405, std::string(request.method) + " " + std::string(request.path)});
    });
}

TEST_CASE("http rubbish: an unknown method gets what its path says, and a broken line 400") {
    CHECK(to_rubbish(HPE_INVALID_METHOD, "BREW /a?b HTTP/1.1\r\nHost: x\r\n").body == "- /a");
    CHECK(to_rubbish(HPE_INVALID_METHOD, "\r\nget /a HTTP/1.0\n").body == "- /a");
    // The head of the method has come before: what is seen of it is no method.
    CHECK(to_rubbish(HPE_INVALID_METHOD, "GET /events HTTP/1.1\r\n\r\n").body == "- /events");
    for (const char* const line : {"", "BREW", "BREW /a", "B(W /a HTTP/1.1", "BREW a HTTP/1.1",
                                   " /a HTTP/1.1", "BREW /a HTTP/2.0"}) {
        CAPTURE(line);
        CHECK(to_rubbish(HPE_INVALID_METHOD, line).status == 400);
    }
    CHECK(to_rubbish(HPE_INVALID_VERSION, "").status == 505);
    CHECK(to_rubbish(HPE_CB_body, "").status == 413);
    CHECK(to_rubbish(HPE_HEADER_OVERFLOW, "").status == 431);
    CHECK(to_rubbish(HPE_INVALID_HEADER_TOKEN, "").status == 400);
}

}  // namespace
}  // namespace bullring::http_accept_test
