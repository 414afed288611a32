#include "src/cli/doctor/interfaces.hpp"

#include <array>
#include <cstring>
#include <memory>

#include <ifaddrs.h>
#include <netinet/in.h>

namespace bullring::doctor {

namespace {

asio::ip::address plain(const asio::ip::address& address) {
    if (!address.is_v6()) return address;
    const asio::ip::address_v6 v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6);
    // Without the zone, which one side may leave out.
    return asio::ip::address_v6(v6.to_bytes());
}

asio::ip::address address_of(const ::sockaddr& socket) {
    if (socket.sa_family == AF_INET) {
        ::sockaddr_in v4{};
        std::memcpy(&v4, &socket, sizeof v4);
        return asio::ip::address_v4(ntohl(v4.sin_addr.s_addr));
    }
    ::sockaddr_in6 v6{};
    std::memcpy(&v6, &socket, sizeof v6);
    asio::ip::address_v6::bytes_type bytes{};
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return asio::ip::address_v6(bytes);
}

}  // namespace

bool is_on_this_machine(const asio::ip::address& address) {
    const asio::ip::address wanted = plain(address);
    // All of 127.0.0.0/8 is, and one address of it is shown.
    if (wanted.is_loopback()) return true;
    ::ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return false;
    const std::unique_ptr<::ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
    for (const ::ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr) continue;
        const auto family = one->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        if (plain(address_of(*one->ifa_addr)) == wanted) return true;
    }
    return false;
}

}  // namespace bullring::doctor
