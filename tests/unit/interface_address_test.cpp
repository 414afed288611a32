#include "src/base/text/interface_address.hpp"

#include <string>

#include <doctest/doctest.h>
#include <sys/socket.h>

namespace bullring::interface_address_test {

namespace {

std::string refusal(const char* text) {
    const auto address = parse_interface_address(text);
    return address ? std::string() : address.error();
}

bool refused_for(const char* text, const char* why) {
    return refusal(text).find(why) != std::string::npos;
}

}  // namespace

TEST_CASE("interface address: both families are read and written") {
    for (const char* text :
         {"10.0.0.9/24", "10.0.0.9/32", "10.0.0.0/31", "2001:db8::9/64", "fe80::9/128"}) {
        CAPTURE(text);
        const auto address = parse_interface_address(text);
        REQUIRE(address);
        CHECK(to_text(*address) == text);
    }
    CHECK(parse_interface_address("10.0.0.9/24")->family == AF_INET);
    CHECK(host_text(*parse_interface_address("2001:DB8:0::9/64")) == "2001:db8::9");
}

TEST_CASE("interface address: what is none is refused with what would be right") {
    CHECK(refused_for("eth0", "\"eth0\" is not an IP address; expected ADDRESS/PREFIX"));
    CHECK(refused_for("10.0.0/24", "is not an IP address"));
    CHECK(refused_for("10.0.0.9", "has no prefix length"));
    CHECK(refused_for("2001:db8::9", "has no prefix length"));
    for (const char* text : {"10.0.0.9/", "10.0.0.9/33", "10.0.0.9/0", "10.0.0.9/-1",
                             "10.0.0.9/24x", "10.0.0.9/99999999999", "10.0.0.9/24/24"}) {
        CAPTURE(text);
        CHECK(refused_for(text, "expected 1 … 32"));
    }
    CHECK(refused_for("2001:db8::9/129", "expected 1 … 128"));
}

TEST_CASE("interface address: what no single host can have is refused") {
    CHECK(refused_for("127.0.0.1/8", "loopback"));
    CHECK(refused_for("::1/128", "loopback"));
    CHECK(refused_for("224.0.0.1/24", "multicast"));
    CHECK(refused_for("ff02::1/64", "multicast"));
    CHECK(refused_for("0.0.0.0/24", "means no host"));
    CHECK(refused_for("::/64", "means no host"));
    CHECK(refused_for("255.255.255.255/32", "reserved"));
    CHECK(refused_for("10.0.0.0/24", "the network itself"));
    CHECK(refused_for("10.0.0.255/24", "the broadcast address"));
    CHECK(refused_for("::ffff:10.0.0.9/128", "write it as IPv4"));
}

TEST_CASE("interface address: a list is taken apart, and each fault in it is told") {
    const auto sound = parse_addresses("10.0.0.9/24, 2001:db8::9/64\n10.0.0.10/32");
    CHECK(sound.problems.empty());
    CHECK(sound.addresses.size() == 3);
    const auto wrong = parse_addresses("10.0.0.9/24,10.0.0.9/32,x,y");
    CHECK(wrong.addresses.size() == 1);
    REQUIRE(wrong.problems.size() == 3);
    CHECK(wrong.problems[0] == "\"10.0.0.9/32\" is given twice");
    CHECK(parse_addresses(" ,\n").addresses.empty());
}

TEST_CASE("interface address: networks are compared by the bits of the prefix") {
    const auto one = *parse_interface_address("10.0.1.9/23");
    CHECK(same_network(one, *parse_interface_address("10.0.0.1/23")));
    CHECK_FALSE(same_network(one, *parse_interface_address("10.0.2.1/23")));
    CHECK_FALSE(same_network(one, *parse_interface_address("2001:db8::1/64")));
}

TEST_CASE("interface address: a member's host is recognised in each form") {
    const auto address = *parse_interface_address("2001:db8::9/64");
    CHECK(is_host(address, "2001:0db8:0::0009"));
    CHECK_FALSE(is_host(address, "2001:db8::8"));
    CHECK_FALSE(is_host(address, "10.0.0.9"));
    CHECK_FALSE(is_host(address, "node-1.example"));
}

TEST_CASE("interface address: names of interfaces are those that the kernel takes") {
    CHECK(is_device_name("eth0"));
    CHECK(is_device_name("br-0.100@x"));
    CHECK_FALSE(is_device_name(""));
    CHECK_FALSE(is_device_name("a/b"));
    CHECK_FALSE(is_device_name("eth0:1"));
    CHECK_FALSE(is_device_name(".."));
    CHECK_FALSE(is_device_name("sixteen-letters-"));
}

}  // namespace bullring::interface_address_test
