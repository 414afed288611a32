#include "src/base/text/endpoint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <arpa/inet.h>
#include <asio/ip/address.hpp>

#include "protocol/values/membership.hpp"
#include "src/base/text/text.hpp"

namespace bullring {

namespace {

constexpr std::size_t host_bytes_max = 253;  // the longest name that DNS can carry

bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The name of an interface, or its number. The kernel allows more, and nobody uses it.
bool is_zone(std::string_view text) {
    constexpr std::size_t bytes_max = 15;
    return !text.empty() && text.size() <= bytes_max &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
           });
}

bool is_ipv6(std::string_view text) {
    // A link-local address may name its interface: fe80::1%eth0.
    const std::size_t zone = text.find('%');
    if (zone != std::string_view::npos && !is_zone(text.substr(zone + 1))) return false;
    const std::string_view bare = text.substr(0, zone);
    // The system would take such a text for a shorter one.
    if (bare.find('\0') != std::string_view::npos) return false;
    in6_addr address{};
    return inet_pton(AF_INET6, std::string(bare).c_str(), &address) == 1;
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

/// Also of what is no address: 10.0.0, 300.1.1.1. No host has such a name.
bool looks_like_ipv4(std::string_view text) {
    return text.find_first_not_of("0123456789.") == std::string_view::npos;
}

tl::expected<std::uint16_t, std::string> parse_port(std::string_view text) {
    const auto refuse = [&](const char* why) {
        return tl::unexpected("port " + in_quotes(text) + " " + why + "; ports are 1 … 65535");
    };
    if (text.empty()) return tl::unexpected(std::string("it has no port; expected HOST:PORT"));
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
    constexpr std::string_view mark = "://";
    const std::size_t scheme = text.find(mark);
    if (scheme != std::string_view::npos)
        return tl::unexpected("it is a URL; expected HOST:PORT, without " +
                              in_quotes(text.substr(0, scheme + mark.size())));
    if (text.find_first_not_of("0123456789") == std::string_view::npos)
        return tl::unexpected(std::string("it is a number alone; expected HOST:PORT"));
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) {
            return tl::unexpected(std::string("the bracket is not closed; expected [IPv6]:PORT"));
        }
        const std::string_view host = text.substr(1, end - 1);
        if (!is_ipv6(host)) return tl::unexpected(in_quotes(host) + " is not an IPv6 address");
        const std::string_view rest = text.substr(end + 1);
        if (!rest.empty() && rest.front() != ':') {
            return tl::unexpected(std::string("a colon and the port must follow the bracket"));
        }
        return Halves{host, rest.substr(rest.empty() ? 0 : 1)};
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return Halves{text, {}};
    const std::string_view host = text.substr(0, colon);
    if (is_ipv6(host)) {
        return tl::unexpected(
            std::string("an IPv6 address must be in brackets, such as [::1]:7100"));
    }
    if (host.find(':') != std::string_view::npos) {
        return tl::unexpected(std::string("it has more than one colon; expected HOST:PORT"));
    }
    return Halves{host, text.substr(colon + 1)};
}

}  // namespace

tl::expected<Endpoint, std::string> parse_endpoint(std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        return tl::unexpected(in_quotes(text) + ": " + why);
    };
    if (text.empty()) return refuse("it is empty; expected HOST:PORT");
    const auto halves = split(text);
    if (!halves) return refuse(halves.error());
    if (halves->host.empty()) return refuse("it has no host; expected HOST:PORT");
    const bool bracketed = text.front() == '[';
    if (!bracketed && looks_like_ipv4(halves->host) && !is_ipv4(halves->host)) {
        return refuse("host " + in_quotes(halves->host) +
                      " is neither an IPv4 address nor a name; expected HOST:PORT");
    }
    if (!bracketed && !is_name(halves->host)) {
        return refuse("host " + in_quotes(halves->host) +
                      " is not a name, an IPv4 address or [IPv6]; expected HOST:PORT");
    }
    const auto port = parse_port(halves->port);
    if (!port) return refuse(port.error());
    return Endpoint{std::string(halves->host), *port};
}

bool is_loopback(const std::string& host) {
    if (host == "localhost") return true;
    asio::error_code error;
    const asio::ip::address address = asio::ip::make_address(host, error);
    return !error && address.is_loopback();
}

bool is_unspecified(const std::string& host) {
    asio::error_code error;
    const asio::ip::address address = asio::ip::make_address(host, error);
    return !error && address.is_unspecified();
}

std::string to_text(const Endpoint& endpoint) {
    const bool is_v6 = endpoint.host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + endpoint.host + "]" : endpoint.host;
    return host + ":" + std::to_string(endpoint.port);
}

// ---- The list of members.

namespace {

using protocol::NodeId;

constexpr auto id_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// One spelling for an address, so that [::1] and [0:0:0:0:0:0:0:1], Host and host are the same.
std::string canonical(const Endpoint& endpoint) {
    Endpoint same = endpoint;
    same.host = in_small_letters(same.host);
    in6_addr address{};
    std::array<char, INET6_ADDRSTRLEN> shortest{};
    if (inet_pton(AF_INET6, same.host.c_str(), &address) == 1 &&
        inet_ntop(AF_INET6, &address, shortest.data(), shortest.size()) != nullptr) {
        same.host = shortest.data();
    }
    return to_text(same);
}

class PeerParser {
public:
    /// The name of the list's file; its mistakes are told by their lines. Empty: no file.
    explicit PeerParser(std::string file) : file_(std::move(file)) {}

    ParsedPeers parse(std::string_view text) && {
        while (!text.empty()) {
            const std::size_t line_end = std::min(text.find('\n'), text.size());
            ++number_;
            line(text.substr(0, line_end));
            text.remove_prefix(std::min(line_end + 1, text.size()));
        }
        number_ = 0;
        return std::move(*this).result();
    }

private:
    void line(std::string_view text) {
        text = trimmed(text.substr(0, text.find('#')));
        // A comma at the end of a line is how lists are written; one too many elsewhere may be a
        // member that a template has lost.
        while (!text.empty()) {
            const std::size_t comma = text.find(',');
            entry(trimmed(text.substr(0, comma)));
            text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
        }
    }

    ParsedPeers result() && {
        if (entries_ == 0) problem("the peer list is empty; expected ID=HOST:PORT,…");
        if (parsed_.peers.size() > protocol::members_max) {
            problem("the peer list has " + std::to_string(parsed_.peers.size()) +
                    " members; at most " + std::to_string(protocol::members_max) +
                    " can form a cluster");
        }
        return std::move(parsed_);
    }

    void entry(std::string_view text) {
        ++entries_;
        if (text.empty()) {
            problem("entry " + std::to_string(entries_) + " is empty; expected ID=HOST:PORT");
            return;
        }
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) {
            problem("entry " + in_quotes(text) + " has no ID; expected ID=HOST:PORT");
            return;
        }
        const std::string_view address = trimmed(text.substr(equals + 1));
        if (address.find_first_of(" \t;") != std::string_view::npos) {
            problem("entry " + in_quotes(text) +
                    " has a blank or a semicolon in it; entries are separated by commas or lines");
            return;
        }
        const auto id = parse_node_id(trimmed(text.substr(0, equals)));
        const auto endpoint = parse_endpoint(address);
        if (!id) problem("entry " + in_quotes(text) + ": " + id.error());
        if (!endpoint) problem("entry " + in_quotes(text) + ": address " + endpoint.error());
        if (id && endpoint) member(*id, *endpoint);
    }

    void member(NodeId id, const Endpoint& endpoint) {
        const auto [same_id, is_new_id] = parsed_.peers.emplace(id, endpoint);
        if (!is_new_id) {
            problem("ID " + std::to_string(id.value) + " is used twice, at " +
                    to_text(same_id->second) + " and at " + to_text(endpoint) +
                    "; each member needs its own ID");
        }
        const auto [owner, is_new_address] = owners_.emplace(canonical(endpoint), id);
        if (!is_new_address && owner->second != id) {
            problem("address " + to_text(endpoint) + " is used twice, for members " +
                    std::to_string(owner->second.value) + " and " + std::to_string(id.value) +
                    "; each member needs its own address");
        }
    }

    void problem(const std::string& text) {
        const std::string line = number_ == 0 ? "" : " line " + std::to_string(number_);
        parsed_.problems.push_back(file_.empty() ? text : file_ + line + ": " + text);
    }

    ParsedPeers parsed_;
    std::map<std::string, NodeId> owners_;
    std::size_t entries_ = 0;
    std::string file_;
    std::size_t number_ = 0;  // of the line; 0: the list as a whole
};

}  // namespace

tl::expected<NodeId, std::string> parse_node_id(std::string_view text) {
    const auto refuse = [&](const char* why) {
        return tl::unexpected("ID " + in_quotes(text) + " " + why +
                              "; IDs are whole numbers, 1 … 9223372036854775807");
    };
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative ? 1 : 0);
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    const bool is_number = !digits.empty() && stop == end && error != std::errc::invalid_argument;
    if (!is_number) return refuse(why_not_whole(text));
    if (negative) return refuse("is negative");
    if (error != std::errc{} || value > id_max) return refuse("is too large");
    if (value == 0) return refuse("is zero");
    return NodeId{value};
}

tl::expected<NodeId, std::string> node_id_of_host(std::string_view host_name) {
    const std::string_view name = host_name.substr(0, host_name.find('.'));
    const std::size_t last_other = name.find_last_not_of("0123456789");
    const std::string_view digits =
        last_other == std::string_view::npos ? name : name.substr(last_other + 1);
    const auto refuse = [&](const char* why) {
        return tl::unexpected("the host name " + in_quotes(host_name) + " " + why +
                              "; expected one such as poller-0, which is node 1");
    };
    if (digits.empty()) return refuse("ends in no number");
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (parsed.ec != std::errc{} || value >= id_max) return refuse("ends in too large a number");
    return NodeId{value + 1};
}

ParsedPeers parse_peers(std::string_view text) { return PeerParser({}).parse(text); }

std::string ids_text(const PeerList& peers) {
    std::string text;
    for (const auto& [id, endpoint] : peers) {
        text += (text.empty() ? "" : ", ") + std::to_string(id.value);
    }
    return text;
}

ParsedPeers read_peers(std::string_view argument) {
    if (!argument.starts_with('@')) return parse_peers(argument);
    const std::string path(argument.substr(1));
    if (path.empty()) return {{}, {"\"@\" names no file; expected @FILE"}, false};
    const auto text = read_text_file(path);
    if (!text) return {{}, {text.error().why}, text.error().passes};
    return PeerParser(path).parse(*text);
}

}  // namespace bullring
