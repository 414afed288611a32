#include "src/task/address/announcement.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bullring {

namespace {

using HardwareAddress = std::array<std::uint8_t, ETH_ALEN>;

struct Interface {
    int index = 0;
    HardwareAddress hardware{};
};

/// nullopt for one that needs no announcement, with errno 0, and for one that can't be asked.
std::optional<Interface> ethernet(int socket, const std::string& device) {
    ifreq request{};
    device.copy(request.ifr_name, sizeof request.ifr_name - 1);
    Interface interface;
    if (::ioctl(socket, SIOCGIFINDEX, &request) != 0) return std::nullopt;
    interface.index = request.ifr_ifindex;
    if (::ioctl(socket, SIOCGIFHWADDR, &request) != 0) return std::nullopt;
    errno = 0;
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER) return std::nullopt;
    std::memcpy(interface.hardware.data(), request.ifr_hwaddr.sa_data, interface.hardware.size());
    return interface;
}

/// A host with two interfaces in one network answers by both of them.
bool is_of_this_host(const HardwareAddress& hardware) {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return false;
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(list, &::freeifaddrs);
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_PACKET) continue;
        sockaddr_ll link{};
        std::memcpy(&link, one->ifa_addr, sizeof link);
        if (link.sll_halen == hardware.size() &&
            std::memcmp(link.sll_addr, hardware.data(), hardware.size()) == 0)
            return true;
    }
    return false;
}

/// It hears nothing before it is bound.
OwnedFd open_arp() {
    return OwnedFd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// It hears nothing at all.
OwnedFd open_icmp6() {
    OwnedFd socket(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMPV6));
    icmp6_filter nothing{};
    ICMP6_FILTER_SETBLOCKALL(&nothing);
    if (socket) ::setsockopt(socket.get(), IPPROTO_ICMPV6, ICMP6_FILTER, &nothing, sizeof nothing);
    return socket;
}

int error_of(ssize_t sent) { return sent < 0 ? errno : 0; }

/// A request to all for `address`, from it; `as_nobody`: from no address, which changes nobody's
/// table and only asks.
int send_arp(int socket, const Interface& interface, const InterfaceAddress& address,
             bool as_nobody) {
    ether_arp arp{};
    arp.arp_hrd = htons(ARPHRD_ETHER);
    arp.arp_pro = htons(ETH_P_IP);
    arp.arp_hln = ETH_ALEN;
    arp.arp_pln = sizeof(in_addr);
    arp.arp_op = htons(ARPOP_REQUEST);
    std::memcpy(arp.arp_sha, interface.hardware.data(), sizeof arp.arp_sha);
    if (!as_nobody) std::memcpy(arp.arp_spa, address.bytes.data(), sizeof arp.arp_spa);
    std::memcpy(arp.arp_tpa, address.bytes.data(), sizeof arp.arp_tpa);
    sockaddr_ll everybody{};
    everybody.sll_family = AF_PACKET;
    everybody.sll_protocol = htons(ETH_P_ARP);
    everybody.sll_ifindex = interface.index;
    everybody.sll_halen = ETH_ALEN;
    std::fill_n(everybody.sll_addr, ETH_ALEN, std::uint8_t{0xff});
    return error_of(::sendto(socket, &arp, sizeof arp, 0,
                             reinterpret_cast<const sockaddr*>(&everybody), sizeof everybody));
}

/// Neighbours would drop a router that no longer says that it is one.
bool forwards(const Interface& interface) {
    // The name that is given may be an alternative one, which /proc does not know.
    char name[IF_NAMESIZE] = {};
    ::if_indextoname(static_cast<unsigned>(interface.index), name);
    const std::string path = std::string("/proc/sys/net/ipv6/conf/") + name + "/forwarding";
    const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char digit = '0';
    return file && ::read(file.get(), &digit, 1) == 1 && digit != '0';
}

int send_advertisement(int socket, const Interface& interface, const InterfaceAddress& address) {
    struct {
        nd_neighbor_advert advert;
        nd_opt_hdr option;
        HardwareAddress hardware;
    } message{};
    message.advert.nd_na_type = ND_NEIGHBOR_ADVERT;
    message.advert.nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE;
    if (forwards(interface)) message.advert.nd_na_flags_reserved |= ND_NA_FLAG_ROUTER;
    std::memcpy(&message.advert.nd_na_target, address.bytes.data(), sizeof(in6_addr));
    message.option.nd_opt_type = ND_OPT_TARGET_LINKADDR;
    message.option.nd_opt_len = 1;
    message.hardware = interface.hardware;

    // Receivers refuse what may have come from another network.
    const int hops = 255;
    const int off = 0;
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops);
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &off, sizeof off);
    sockaddr_in6 all_nodes{};
    all_nodes.sin6_family = AF_INET6;
    all_nodes.sin6_scope_id = static_cast<std::uint32_t>(interface.index);
    all_nodes.sin6_addr = in6_addr{{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}};
    return error_of(::sendto(socket, &message, sizeof message, 0,
                             reinterpret_cast<const sockaddr*>(&all_nodes), sizeof all_nodes));
}

}  // namespace

Announcer::Announcer(std::string device) : device_(std::move(device)) {
    if (device_.empty()) return;
    arp_ = open_arp();
    icmp6_ = open_icmp6();
    if (!arp_ || !icmp6_) error_ = errno;
}

int Announcer::announce(const InterfaceAddress& address) const {
    const bool ipv4 = address.family == AF_INET;
    const int socket = (ipv4 ? arp_ : icmp6_).get();
    if (socket < 0) return error_;
    const auto interface = ethernet(socket, device_);
    if (!interface) return errno;
    return ipv4 ? send_arp(socket, *interface, address, false)
                : send_advertisement(socket, *interface, address);
}

void Announcer::ask(const std::vector<InterfaceAddress>& addresses) const {
    const auto interface = arp_ ? ethernet(arp_.get(), device_) : std::nullopt;
    if (!interface) return;
    // As long as it is the same interface nothing changes.
    sockaddr_ll arp_here{};
    arp_here.sll_family = AF_PACKET;
    arp_here.sll_protocol = htons(ETH_P_ARP);
    arp_here.sll_ifindex = interface->index;
    if (::bind(arp_.get(), reinterpret_cast<const sockaddr*>(&arp_here), sizeof arp_here) != 0)
        return;
    char old[1];
    while (::recv(arp_.get(), old, sizeof old, 0) >= 0) continue;
    for (const InterfaceAddress& address : addresses)
        if (address.family == AF_INET) send_arp(arp_.get(), *interface, address, true);
}

std::optional<std::string> Announcer::hear(const std::vector<InterfaceAddress>& addresses) const {
    ether_arp arp{};
    sockaddr_ll sender{};
    socklen_t sender_bytes = sizeof sender;
    const ssize_t count = ::recvfrom(arp_.get(), &arp, sizeof arp, MSG_TRUNC,
                                     reinterpret_cast<sockaddr*>(&sender), &sender_bytes);
    // The socket also receives this host's own messages.
    if (count < static_cast<ssize_t>(sizeof arp) || sender.sll_pkttype == PACKET_OUTGOING)
        return std::nullopt;
    const auto ours =
        std::find_if(addresses.begin(), addresses.end(), [&](const InterfaceAddress& address) {
            return address.family == AF_INET &&
                   std::memcmp(address.bytes.data(), arp.arp_spa, sizeof arp.arp_spa) == 0;
        });
    if (ours == addresses.end()) return std::nullopt;
    HardwareAddress mac{};
    std::memcpy(mac.data(), arp.arp_sha, mac.size());
    if (is_of_this_host(mac)) return std::nullopt;
    return fmt::format("{} is answered for by {:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}, too",
                       host_text(*ours), mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

}  // namespace bullring
