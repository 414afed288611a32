#include "src/base/os/tcp.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace bullring::tcp {

namespace {

using asio::ip::tcp;

constexpr int backlog = 256;

void set_int(int fd, int level, int option, int value) {
    ::setsockopt(fd, level, option, &value,
                 sizeof value);  // an option that is missing costs time only
}

std::string error_text(int error) { return std::generic_category().message(error); }

OwnedFd open_socket(const tcp::endpoint& address) {
    return OwnedFd(::socket(address.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                            IPPROTO_TCP));
}

/// 0, or the error.
int bind_at(const tcp::endpoint& address, OwnedFd& result) {
    OwnedFd fd = open_socket(address);
    if (!fd) return errno;
    set_int(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (address.address().is_v6()) {
        // [::] serves IPv4 as well.
        set_int(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, address.address().is_unspecified() ? 0 : 1);
    }
    if (::bind(fd.get(), address.data(), static_cast<socklen_t>(address.size())) != 0) return errno;
    result = std::move(fd);
    return 0;
}

int listen_at(const tcp::endpoint& address, OwnedFd& result) {
    if (const int error = bind_at(address, result); error != 0) return error;
    return ::listen(result.get(), backlog) == 0 ? 0 : errno;
}

tcp::endpoint address_at(int fd, int (*which)(int, sockaddr*, socklen_t*)) {
    tcp::endpoint address;
    auto length = static_cast<socklen_t>(address.capacity());
    if (which(fd, address.data(), &length) != 0) return {};
    if (length > address.capacity()) return {};  // a local socket's
    address.resize(length);
    return address;
}

}  // namespace

std::vector<tcp::endpoint> numeric_addresses(const Endpoint& endpoint) {
    asio::error_code error;
    const asio::ip::address address = asio::ip::make_address(endpoint.host, error);
    if (error) return {};
    return {tcp::endpoint(address, endpoint.port)};
}

tl::expected<std::vector<tcp::endpoint>, std::string> resolve(const Endpoint& endpoint) {
    std::vector<tcp::endpoint> found = numeric_addresses(endpoint);
    if (!found.empty()) return found;
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int error = ::getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &list);
    if (error != 0) {
        return tl::unexpected(std::string(::gai_strerror(error)));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
        tcp::endpoint address;
        if (one->ai_addrlen > address.capacity()) continue;
        std::memcpy(address.data(), one->ai_addr, one->ai_addrlen);
        address.resize(one->ai_addrlen);
        address.port(endpoint.port);
        if (std::find(found.begin(), found.end(), address) == found.end()) found.push_back(address);
    }
    return found;
}

tl::expected<std::vector<OwnedFd>, std::string> listen_on(const Endpoint& endpoint) {
    const auto addresses = resolve(endpoint);
    if (!addresses) {
        return tl::unexpected("cannot listen on " + bullring::to_text(endpoint) + ": " +
                              addresses.error());
    }
    std::vector<OwnedFd> listeners;
    int last_error = EADDRNOTAVAIL;
    for (const tcp::endpoint& address : *addresses) {
        OwnedFd listener;
        const int error = listen_at(address, listener);
        if (error == 0) {
            listeners.push_back(std::move(listener));
            continue;
        }
        last_error = error;
        // A name may have an address of a family that this host does not have.
        const bool no_such_family =
            error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT;
        if (!no_such_family || addresses->size() == 1) {
            return tl::unexpected("cannot listen on " + to_text(address) + ": " +
                                  error_text(error));
        }
    }
    if (listeners.empty()) {
        return tl::unexpected("cannot listen on " + bullring::to_text(endpoint) + ": " +
                              error_text(last_error));
    }
    return listeners;
}

int try_bind(const tcp::endpoint& address) {
    OwnedFd let_go;
    return bind_at(address, let_go);
}

OwnedFd start_connect(const tcp::endpoint& address) {
    OwnedFd fd = open_socket(address);
    if (!fd) return fd;
    // The port that the kernel draws for this end may be one that a member on this host listens on
    // when it comes back: without this its bind would fail.
    set_int(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (::connect(fd.get(), address.data(), static_cast<socklen_t>(address.size())) != 0 &&
        errno != EINPROGRESS) {
        const int error = errno;
        fd = OwnedFd();
        errno = error;
    }
    return fd;
}

int connect_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
    if (error != 0) return error;
    // Where nobody listens on a port that the kernel may draw, a socket can meet itself.
    if (address_at(fd, &::getsockname) == address_at(fd, &::getpeername)) return ECONNREFUSED;
    return 0;
}

int accept_from(int listener) {
    return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

void set_options(int fd, protocol::Duration unacknowledged_max) {
    set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(unacknowledged_max.ns / 1'000'000));
}

protocol::Duration round_trip(int fd) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
    return protocol::microseconds(info.tcpi_rtt);
}

void set_keep_alive(int fd) {
    set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
    set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

Ends addresses_of(int fd) {
    return {to_text(address_at(fd, &::getsockname)), to_text(address_at(fd, &::getpeername))};
}

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

std::string to_text(const tcp::endpoint& address) {
    asio::ip::address host = address.address();
    if (host.is_v6()) {
        asio::ip::address_v6 v6 = host.to_v6();
        if (v6.is_v4_mapped()) {
            host = asio::ip::make_address_v4(asio::ip::v4_mapped, v6);
        } else {
            v6.scope_id(0);
            host = v6;
        }
    }
    return bullring::to_text(Endpoint{host.to_string(), address.port()});
}

}  // namespace bullring::tcp
