#include <doctest/doctest.h>

#include "src/http/routes.hpp"

namespace bullring::http_routes_test {
namespace {

class Reply final : public HttpReply {
public:
    void send(const HttpAnswer& answer) override { sent = answer; }
    std::unique_ptr<HttpStream> stream(const char* /*type*/) override { return nullptr; }

    HttpAnswer sent{0, ""};
};

/// Answers with its number.
void handler(const HttpRequest& request, const HttpReplyPtr& reply) {
    reply->send({200, std::string(request.path) + " " + std::to_string(request.number)});
}

HttpAnswer ask(std::string_view method, std::string_view path) {
    static const HttpRoutes routes{{"/", "GET, HEAD", handler},  {"/a", "GET, HEAD", handler},
                                   {"/b", "POST", handler},      {"/a/last", "GET", handler},
                                   {"/a/#.svg", "GET", handler}, {"/a/#", "PUT", handler}};
    const auto reply = std::make_shared<Reply>();
    answer_by(routes, {method, path, "", {}}, reply);
    return reply->sent;
}

TEST_CASE("http routes: a path that no row has is 404, whatever the method") {
    for (const char* const path : {"", "/A", "/aa", "/b/1.svg", "*", "//a", "/a//", "x:80"})
        for (const char* const method : {"GET", "POST", "-"}) {
            CAPTURE(path);
            CHECK(ask(method, path).status == 404);
        }
    CHECK(ask("GET", "/c/").body == "nothing is here: /c\n");
}

TEST_CASE(
    "http routes: a method that its row does not have is 405, and those that it has are said") {
    CHECK(ask("GET", "/a").status == 200);
    CHECK(ask("HEAD", "/a").status == 200);
    for (const char* const method : {"", "-", "get", "GET, HEAD", "POST", "OPTIONS", "HEA"}) {
        CAPTURE(method);
        const HttpAnswer answer = ask(method, "/a");
        CHECK(answer.status == 405);
        CHECK(answer.allow == "GET, HEAD");
        CHECK(answer.body == "only GET, HEAD here\n");
    }
    CHECK(ask("GET", "/b").allow == "POST");
}

TEST_CASE("http routes: one slash at the end makes no difference") {
    CHECK(ask("GET", "/a/").body == "/a 0");
    CHECK(ask("GET", "/").body == "/ 0");
    CHECK(ask("GET", "//").body == "/ 0");
}

TEST_CASE("http routes: a number in a path is handed on, and what is none is another path") {
    CHECK(ask("GET", "/a/17.svg").body == "/a/17.svg 17");
    CHECK(ask("GET", "/a/007.svg/").body == "/a/007.svg 7");
    CHECK(ask("PUT", "/a/18446744073709551615").body ==
          "/a/18446744073709551615 18446744073709551615");
    CHECK(ask("GET", "/a/last").body == "/a/last 0");
    CHECK(ask("GET", "/a/17").status == 405);
    for (const char* const path : {"/a/.svg", "/a/x.svg", "/a/-1.svg", "/a/+1.svg", "/a/1.svgz",
                                   "/a/ 1.svg", "/a/#.svg", "/a/18446744073709551616.svg"}) {
        CAPTURE(path);
        CHECK(ask("GET", path).status == 404);
    }
}

}  // namespace
}  // namespace bullring::http_routes_test
