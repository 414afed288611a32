#include "src/http/request_parser.hpp"

#include <string>

#include <doctest/doctest.h>

namespace bullring::request_parser_test {
namespace {

constexpr std::size_t head_max = RequestParser::head_max;

std::string head_of(std::size_t length) {
    std::string head = "GET / HTTP/1.1\r\nX: ";
    head.append(length - head.size() - 4, 'a');
    return head + "\r\n\r\n";
}
http_errno error_of(const std::string& bytes) {
    RequestParser request;
    request.read(bytes);
    return request.error();
}

TEST_CASE("request parser: a request is whole at its end, and what follows is of another one") {
    RequestParser request;
    const std::string first = "POST /a?b HTTP/1.1\r\nAccept: x\r\nContent-Length: 2\r\n\r\n{}";
    CHECK(request.read(first + "GET /c HTTP/1.1\r\n\r\n") == first.size());
    REQUIRE(request.is_whole());
    CHECK(request.method() == std::string("POST"));
    CHECK(request.target() == "/a?b");
    CHECK(request.body() == "{}");
    CHECK(request.header("ACCEPT") == "x");
    CHECK(request.header("Host").empty());
    CHECK(request.keeps_alive());
}

TEST_CASE("request parser: byte by byte") {
    RequestParser request;
    const std::string text = "GET /a HTTP/1.0\r\nOne: 1\r\nOne: 2\r\n\r\n";
    for (const char byte : text) CHECK(request.read({&byte, 1}) == 1);
    REQUIRE(request.is_whole());
    CHECK(request.header("one") == "1");
    CHECK_FALSE(request.keeps_alive());
    CHECK_FALSE(request.takes_chunks());
}

TEST_CASE("request parser: a head of 8 KiB fits, a longer one and one that never ends do not") {
    RequestParser fits;
    fits.read(head_of(head_max - 1));
    CHECK(fits.is_whole());
    CHECK(error_of(head_of(head_max + 1)) == HPE_HEADER_OVERFLOW);
    CHECK(error_of("GET /" + std::string(head_max, 'a')) == HPE_HEADER_OVERFLOW);
    RequestParser in_pieces;
    for (const char byte : head_of(head_max + 1))
        if (in_pieces.error() == HPE_OK) in_pieces.read({&byte, 1});
    CHECK(in_pieces.error() == HPE_HEADER_OVERFLOW);
    CHECK(in_pieces.seen().size() <= head_max);
}

TEST_CASE("request parser: a body has 1 KiB at most, in one piece or in chunks") {
    const std::string sized = "POST / HTTP/1.1\r\nContent-Length: ";
    RequestParser fits;
    fits.read(sized + "1024\r\n\r\n" + std::string(1024, 'a'));
    CHECK(fits.is_whole());
    CHECK(error_of(sized + "1025\r\n\r\n") == HPE_CB_headers_complete);
    const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    CHECK(error_of(chunked + "400\r\n" + std::string(1024, 'a') + "\r\n1\r\na\r\n") == HPE_CB_body);
    RequestParser with_trailer;
    with_trailer.read(chunked + "1\r\na\r\n0\r\nAuthorization: x\r\n\r\n");
    CHECK(with_trailer.is_whole());
    CHECK(with_trailer.header("Authorization").empty());
}

TEST_CASE("request parser: the word to go on is wanted once, for a body that has not come") {
    const std::string head = "POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
    RequestParser waits;
    waits.read(head);
    CHECK(waits.takes_word());
    CHECK_FALSE(waits.takes_word());
    RequestParser has_come;
    has_come.read(head + "{}");
    CHECK_FALSE(has_come.takes_word());
    RequestParser without_body;
    without_body.read("GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n");
    CHECK_FALSE(without_body.takes_word());
}

TEST_CASE("request parser: an upgrade and a tunnel are ignored") {
    RequestParser upgrade;
    upgrade.read("GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    CHECK(upgrade.is_whole());
    RequestParser tunnel;
    tunnel.read("CONNECT x:80 HTTP/1.1\r\n\r\n");
    CHECK(tunnel.is_whole());
}

}  // namespace
}  // namespace bullring::request_parser_test
