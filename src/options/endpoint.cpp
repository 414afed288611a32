#include "src/options/endpoint.hpp"

#include <charconv>
#include <cstddef>

#include <arpa/inet.h>

#include "src/options/text.hpp"

namespace bullring {

namespace {

constexpr std::size_t host_bytes_max = 253;  // the longest name that DNS can carry

bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_ipv6(std::string_view text) {
    // A link-local address may name its interface: fe80::1%eth0.
    const std::size_t zone = text.find('%');
    if (zone != std::string_view::npos && zone + 1 == text.size()) return false;
    in6_addr address{};
    return inet_pton(AF_INET6, std::string(text.substr(0, zone)).c_str(), &address) == 1;
}

bool is_ipv4(std::string_view text) {
    in_addr address{};
    return inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

bool is_name(std::string_view text) {
    if (text.size() > host_bytes_max || text.front() == '.' || text.front() == '-') return false;
    if (text.find("..") != std::string_view::npos) return false;
    for (const char c : text) {
        if (!is_letter_or_digit(c) && c != '-' && c != '_' && c != '.') return false;
    }
    return true;
}

/// What nobody would call a host: 10.0.0, 300.1.1.1.
bool looks_like_ipv4(std::string_view text) {
    return text.find_first_not_of("0123456789.") == std::string_view::npos;
}

tl::expected<std::uint16_t, std::string> parse_port(std::string_view text) {
    const auto refuse = [&](const char* why) {
        return tl::unexpected("port " + in_quotes(text) + " " + why + "; ports are 1 … 65535");
    };
    if (text.empty()) return tl::unexpected(std::string("it has no port; right is HOST:PORT"));
    std::uint32_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    if (error == std::errc::result_out_of_range) return refuse("is out of range");
    if (error != std::errc{} || stop != end) return refuse("is not a number");
    if (port == 0 || port > 65535) return refuse("is out of range");
    return static_cast<std::uint16_t>(port);
}

struct Halves {
    std::string_view host;
    std::string_view port;
};

tl::expected<Halves, std::string> split(std::string_view text) {
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) {
            return tl::unexpected(std::string("the bracket is not closed; right is [IPv6]:PORT"));
        }
        const std::string_view host = text.substr(1, end - 1);
        if (!is_ipv6(host)) return tl::unexpected(in_quotes(host) + " is not an IPv6 address");
        const std::string_view rest = text.substr(end + 1);
        if (!rest.empty() && rest.front() != ':') {
            return tl::unexpected(std::string("after the bracket must come a colon and the port"));
        }
        return Halves{host, rest.substr(rest.empty() ? 0 : 1)};
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return Halves{text, {}};
    const std::string_view host = text.substr(0, colon);
    if (is_ipv6(host)) {
        return tl::unexpected(
            std::string("an IPv6 address stands in brackets, such as [::1]:7100"));
    }
    if (host.find(':') != std::string_view::npos) {
        return tl::unexpected(std::string("it has more than one colon; right is HOST:PORT"));
    }
    return Halves{host, text.substr(colon + 1)};
}

}  // namespace

tl::expected<Endpoint, std::string> parse_endpoint(std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        return tl::unexpected(in_quotes(text) + ": " + why);
    };
    if (text.empty()) return refuse("it is empty; right is HOST:PORT");
    const auto halves = split(text);
    if (!halves) return refuse(halves.error());
    if (halves->host.empty()) return refuse("it has no host; right is HOST:PORT");
    const bool bracketed = text.front() == '[';
    if (!bracketed && looks_like_ipv4(halves->host) && !is_ipv4(halves->host)) {
        return refuse("host " + in_quotes(halves->host) + " is neither an IPv4 address nor a name");
    }
    if (!bracketed && !is_name(halves->host)) {
        return refuse("host " + in_quotes(halves->host) +
                      " is not a name, an IPv4 address or [IPv6]");
    }
    const auto port = parse_port(halves->port);
    if (!port) return refuse(port.error());
    return Endpoint{std::string(halves->host), *port};
}

std::string to_text(const Endpoint& endpoint) {
    const bool is_v6 = endpoint.host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + endpoint.host + "]" : endpoint.host;
    return host + ":" + std::to_string(endpoint.port);
}

}  // namespace bullring
