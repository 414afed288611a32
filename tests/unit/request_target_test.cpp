#include "src/http/request_target.hpp"

#include <doctest/doctest.h>

namespace bullring::request_target_test {

namespace {

std::string path(std::string_view target) {
    const auto asked = request_target(target);
    return asked ? asked->path : "none";
}

std::string host(std::string_view target) {
    const auto asked = request_target(target);
    return asked ? asked->host : "none";
}

}  // namespace

TEST_CASE("request target: a path is what stands before the query") {
    CHECK(path("/") == "/");
    CHECK(path("/leader") == "/leader");
    CHECK(path("/leader?x=/y#z") == "/leader");
    CHECK(host("/leader") == "");
    CHECK(path("//a") == "//a");
    CHECK(path("*") == "*");
}

TEST_CASE("request target: the absolute form has the host that counts") {
    CHECK(path("http://node-1:8080/leader?x") == "/leader");
    CHECK(host("http://node-1:8080/leader") == "node-1:8080");
    CHECK(path("HTTP://[::1]:8080/leader") == "/leader");
    CHECK(host("HTTP://[::1]:8080/leader") == "[::1]:8080");
    CHECK(path("https://somebody@node-1") == "/");
    CHECK(host("https://somebody@node-1") == "node-1");
    CHECK(path("http://node-1?x") == "/");
    CHECK(host("http://node-1?x") == "node-1");
    CHECK(path("ftp://node-1/leader") == "none");
}

TEST_CASE("request target: what is encoded in a path is decoded, once") {
    CHECK(path("/%6ceader") == "/leader");
    CHECK(path("/%6Ceader?%6c") == "/leader");
    CHECK(path("/failovers%2f3.svg") == "/failovers/3.svg");
    CHECK(path("/%256ceader") == "/%6ceader");
    CHECK(path("/a+b") == "/a+b");
    CHECK(path("/%C3%A4") == "/\xC3\xA4");
}

TEST_CASE("request target: what is none, or encoded wrongly, is no path") {
    for (const char* const wrong : {"", "leader", "x:80", "/%", "/%6", "/%zz", "/%ff", "/%C3a",
                                    "http://", "http:///leader", "http://a:99999/"}) {
        CAPTURE(wrong);
        CHECK_FALSE(request_target(wrong));
    }
}

}  // namespace bullring::request_target_test
