#include "src/base/text/interface_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "src/base/text/text.hpp"

namespace bullring {

namespace {

constexpr const char* right = "; expected ADDRESS/PREFIX, like 10.0.0.9/24 or 2001:db8::9/64";

/// The first `prefix` bits are those of the network.
bool host_bits_are(const InterfaceAddress& address, bool ones) {
    for (std::size_t bit = address.prefix; bit < address.size() * 8; ++bit)
        if (((address.bytes[bit / 8] >> (7 - bit % 8)) & 1) != (ones ? 1 : 0)) return false;
    return true;
}

/// Why no host may have it, empty if one may.
std::string unfit_ipv4(const InterfaceAddress& address) {
    const auto& bytes = address.bytes;
    if (bytes[0] == 0) return "means no host (0.0.0.0/8)";
    if (bytes[0] == 127) return "is a loopback address, which every host has for itself";
    if (bytes[0] >= 224 && bytes[0] < 240) return "is a multicast address";
    if (bytes[0] >= 240) return "is reserved (240.0.0.0/4)";
    if (address.prefix >= 31) return {};
    if (host_bits_are(address, false)) return "is the address of the network itself";
    if (host_bits_are(address, true)) return "is the broadcast address of its network";
    return {};
}

std::string unfit_ipv6(const InterfaceAddress& address) {
    in6_addr bytes{};
    std::memcpy(&bytes, address.bytes.data(), sizeof bytes);
    if (IN6_IS_ADDR_UNSPECIFIED(&bytes)) return "means no host";
    if (IN6_IS_ADDR_LOOPBACK(&bytes))
        return "is the loopback address, which every host has for itself";
    if (IN6_IS_ADDR_MULTICAST(&bytes)) return "is a multicast address";
    if (IN6_IS_ADDR_V4MAPPED(&bytes)) return "is an IPv4 address in IPv6's form; write it as IPv4";
    return {};
}

std::string_view next_word(std::string_view& rest) {
    constexpr std::string_view separators = ", \t\r\n";
    rest.remove_prefix(std::min(rest.find_first_not_of(separators), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(separators));
    rest.remove_prefix(word.size());
    return word;
}

}  // namespace

std::size_t InterfaceAddress::size() const {
    return family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
}

tl::expected<InterfaceAddress, std::string> parse_interface_address(std::string_view text) {
    const auto refused = [&](const std::string& why) {
        return tl::unexpected(in_quotes(text) + " " + why);
    };
    const std::size_t slash = text.find('/');
    const std::string host(text.substr(0, slash));
    InterfaceAddress address;
    address.family = host.find(':') == std::string::npos ? AF_INET : AF_INET6;
    if (::inet_pton(address.family, host.c_str(), address.bytes.data()) != 1)
        return refused(std::string("is not an IP address") + right);
    if (slash == std::string_view::npos)
        return refused(std::string("has no prefix length") + right);

    const std::string_view digits = text.substr(slash + 1);
    const auto most = static_cast<unsigned>(address.size() * 8);
    unsigned prefix = 0;
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
    const bool is_number = !digits.empty() && stop == digits.data() + digits.size() &&
                           error != std::errc::invalid_argument;
    if (!is_number || error != std::errc{} || prefix < 1 || prefix > most)
        return refused("has no prefix length of its family; expected 1 … " + std::to_string(most) +
                       " after the slash");
    address.prefix = static_cast<std::uint8_t>(prefix);

    const std::string unfit = address.family == AF_INET ? unfit_ipv4(address) : unfit_ipv6(address);
    if (!unfit.empty()) return refused(unfit + "; expected one that a single host can have");
    return address;
}

std::string host_text(const InterfaceAddress& address) {
    char text[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(address.family, address.bytes.data(), text, sizeof text);
    return text;
}

std::string to_text(const InterfaceAddress& address) {
    return host_text(address) + "/" + std::to_string(address.prefix);
}

ParsedAddresses parse_addresses(std::string_view text) {
    ParsedAddresses parsed;
    std::string_view word;
    while (!(word = next_word(text)).empty()) {
        const auto address = parse_interface_address(word);
        if (!address) {
            parsed.problems.push_back(address.error());
            continue;
        }
        if (is_one_of(parsed.addresses, *address))
            parsed.problems.push_back(in_quotes(word) + " is given twice");
        else
            parsed.addresses.push_back(*address);
    }
    return parsed;
}

bool is_host(const InterfaceAddress& address, const std::string& text) {
    std::array<std::uint8_t, 16> bytes{};
    return ::inet_pton(address.family, text.c_str(), bytes.data()) == 1 && bytes == address.bytes;
}

bool is_device_name(std::string_view name) {
    return !name.empty() && name.size() < IF_NAMESIZE && name != "." && name != ".." &&
           name.find_first_of("/: \t\r\n\v\f") == std::string_view::npos;
}

bool is_one_of(const std::vector<InterfaceAddress>& some, const InterfaceAddress& address) {
    return std::any_of(some.begin(), some.end(), [&](const InterfaceAddress& one) {
        return one.family == address.family && one.bytes == address.bytes;
    });
}

bool same_network(const InterfaceAddress& one, const InterfaceAddress& other) {
    if (one.family != other.family) return false;
    for (std::size_t bit = 0; bit < one.prefix; ++bit)
        if (((one.bytes[bit / 8] ^ other.bytes[bit / 8]) >> (7 - bit % 8)) & 1) return false;
    return true;
}

}  // namespace bullring
