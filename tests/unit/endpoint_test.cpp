#include "src/base/text/endpoint.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace bullring::endpoint_test {

namespace {

using bullring::Endpoint;
using bullring::parse_endpoint;

struct Wrong {
    const char* text;
    const char* why;
};

}  // namespace

TEST_CASE("endpoint: an address of all of a machine's is known in every spelling") {
    for (const char* const host : {"0.0.0.0", "::", "0::0", "0:0::0"}) CHECK(is_unspecified(host));
    for (const char* const host : {"127.0.0.1", "::1", "a", "0.0.0.1"})
        CHECK_FALSE(is_unspecified(host));
}

TEST_CASE("endpoint: names, IPv4 and [IPv6] are taken apart, and to_text puts them together") {
    struct Right {
        const char* text = "";
        Endpoint endpoint;
    };
    for (const Right& right : {
             Right{"10.0.0.1:7100", {"10.0.0.1", 7100}},
             Right{"node-1.example.org:1", {"node-1.example.org", 1}},
             Right{"node_1:65535", {"node_1", 65535}},
             Right{"example.org.:80", {"example.org.", 80}},
             Right{"[::1]:7100", {"::1", 7100}},
             Right{"[2001:db8::1]:7100", {"2001:db8::1", 7100}},
             Right{"[fe80::1%eth0]:7100", {"fe80::1%eth0", 7100}},
             Right{"[::ffff:10.0.0.1]:7100", {"::ffff:10.0.0.1", 7100}},
         }) {
        CAPTURE(right.text);
        const auto parsed = parse_endpoint(right.text).value();
        CHECK(parsed == right.endpoint);
        CHECK(to_text(parsed) == right.text);
    }
}

TEST_CASE("endpoint: a NUL ends no address") {
    using namespace std::string_view_literals;
    CHECK_FALSE(parse_endpoint("[::1\0.evil]:7100"sv).has_value());
    CHECK_FALSE(parse_endpoint("10.0.0.1\0:7100"sv).has_value());
}

TEST_CASE("endpoint: what is no endpoint is refused, quoted, with the reason") {
    const std::string long_name = std::string(254, 'a') + ":1";
    for (const Wrong& wrong : {
             Wrong{"", "is empty"},
             Wrong{"host", "has no port"},
             Wrong{"host:", "has no port"},
             Wrong{"[::1]", "has no port"},
             Wrong{"[::1]:", "has no port"},
             Wrong{":7100", "has no host"},
             Wrong{"host:0", "port \"0\" is out of range; ports are 1 … 65535"},
             Wrong{"host:65536", "port \"65536\" is out of range"},
             Wrong{"host:99999999999", "port \"99999999999\" is out of range"},
             Wrong{"host:-1", "port \"-1\" is not a number"},
             Wrong{"host:http", "port \"http\" is not a number"},
             Wrong{"host:80x", "port \"80x\" is not a number"},
             Wrong{"host: 80", "port \" 80\" is not a number"},
             Wrong{"::1:7100", "must be in brackets"},
             Wrong{"[::1:7100", "bracket is not closed"},
             Wrong{"[]:7100", "\"\" is not an IPv6 address"},
             Wrong{"[10.0.0.1]:7100", "\"10.0.0.1\" is not an IPv6 address"},
             Wrong{"[fe80::1%]:7100", "is not an IPv6 address"},
             Wrong{"[fe80::1%a\x1b[2J]:7100", "is not an IPv6 address"},
             Wrong{"[fe80::1%a\xC9]:7100", "is not an IPv6 address"},
             Wrong{"[fe80::1%sixteen-letters-]:7100", "is not an IPv6 address"},
             Wrong{"[::1]7100", "must follow the bracket"},
             Wrong{"300.1.1.1:7100", "host \"300.1.1.1\""},
             Wrong{"10.0.1:7100", "host \"10.0.1\""},
             Wrong{"ho st:7100", "host \"ho st\""},
             Wrong{"-host:7100", "host \"-host\""},
             Wrong{".host:7100", "host \".host\""},
             Wrong{"a..b:7100", "host \"a..b\""},
             Wrong{"http://host:7100", "it is a URL; expected HOST:PORT, without \"http://\""},
             Wrong{"a\x1b[2J\n://host:7100", "without \"a\\x1b[2J\\x0a://\""},
             Wrong{"fe80::1:7100", "must be in brackets"},
             Wrong{"ho\nst:7100", "host \"ho\\x0ast\""},
             Wrong{long_name.c_str(), "is not a name"},
         }) {
        CAPTURE(wrong.text);
        const auto parsed = parse_endpoint(wrong.text);
        REQUIRE_FALSE(parsed.has_value());
        CHECK(parsed.error().find(wrong.why) != std::string::npos);
        CHECK(parsed.error().find('\n') == std::string::npos);
    }
}

TEST_CASE("endpoint: a host's number is the one at the end of its name, and node IDs begin at 1") {
    struct Right {
        const char* name = "";
        std::uint64_t id = 0;
    };
    for (const Right& right : {
             Right{"poller-0", 1},
             Right{"poller-2", 3},
             Right{"poller-12.poller-members.default.svc", 13},
             Right{"web07", 8},
             Right{"7", 8},
             Right{"a-9223372036854775806", 9223372036854775807U},
         }) {
        CAPTURE(right.name);
        const auto id = node_id_of_host(right.name);
        REQUIRE(id.has_value());
        CHECK(id->value == right.id);
    }
}

TEST_CASE("endpoint: a host without a number, or with too large a one, has no ID") {
    for (const Wrong& wrong : {
             Wrong{"poller", "ends in no number"},
             Wrong{"", "ends in no number"},
             Wrong{"poller-0-a", "ends in no number"},
             Wrong{"poller.0", "ends in no number"},
             Wrong{"a-9223372036854775807", "too large"},
             Wrong{"a-99999999999999999999", "too large"},
         }) {
        CAPTURE(wrong.text);
        const auto id = node_id_of_host(wrong.text);
        REQUIRE_FALSE(id.has_value());
        CHECK(id.error().find(wrong.why) != std::string::npos);
        CHECK(id.error().find("poller-0, which is node 1") != std::string::npos);
    }
}

}  // namespace bullring::endpoint_test
