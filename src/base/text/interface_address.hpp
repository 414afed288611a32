// An address with its prefix length, as it is put on a network interface: 10.0.0.9/24,
// 2001:db8::9/64. Reading and checking the text; nothing here asks the system.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace bullring {

struct InterfaceAddress {
    int family = 0;                        // AF_INET or AF_INET6
    std::array<std::uint8_t, 16> bytes{};  // in network order; the first four with IPv4
    std::uint8_t prefix = 0;

    std::size_t size() const;  // of the bytes that count
    bool operator==(const InterfaceAddress&) const = default;
};

/// Only what one host can have for a while and another one after it: no loopback, multicast or
/// broadcast address. The error quotes the text and says what would be right.
tl::expected<InterfaceAddress, std::string> parse_interface_address(std::string_view text);
/// "10.0.0.9/24".
std::string to_text(const InterfaceAddress& address);
/// The same without the prefix length.
std::string host_text(const InterfaceAddress& address);

struct ParsedAddresses {
    std::vector<InterfaceAddress> addresses;  // the sound ones
    std::vector<std::string> problems;        // one sentence for each thing that is wrong
};

/// Separated by commas, blanks or line breaks. The same address twice is a problem, too.
ParsedAddresses parse_addresses(std::string_view text);

/// Whether a text is that address, in whatever form.
bool is_host(const InterfaceAddress& address, const std::string& text);

/// Whether the kernel would have it as an interface's name.
bool is_device_name(std::string_view name);

/// Whether it is one of them, with whatever prefix length.
bool is_one_of(const std::vector<InterfaceAddress>& some, const InterfaceAddress& address);

/// Whether both lie in the network of the first.
bool same_network(const InterfaceAddress& one, const InterfaceAddress& other);

}  // namespace bullring
