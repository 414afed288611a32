#include "src/task/address/address_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>

namespace bullring {

namespace {

struct CloseSocket {
    void operator()(mnl_socket* socket) const { ::mnl_socket_close(socket); }
};

class RouteSocket {
public:
    RouteSocket() : socket_(::mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)) {
        if (!socket_ || ::mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0) error_ = errno;
    }

    /// To the last answer, each of which `each` gets. 0, or an errno.
    int ask(nlmsghdr* request, mnl_cb_t each = nullptr, void* data = nullptr) {
        if (error_ != 0) return error_;
        request->nlmsg_seq = 1;
        if (::mnl_socket_sendto(socket_.get(), request, request->nlmsg_len) < 0) return errno;
        alignas(nlmsghdr) char answer[32'768];
        int more = MNL_CB_OK;
        while (more > MNL_CB_STOP) {
            const ssize_t bytes = ::mnl_socket_recvfrom(socket_.get(), answer, sizeof answer);
            if (bytes < 0) return errno;
            more = ::mnl_cb_run(answer, static_cast<std::size_t>(bytes), request->nlmsg_seq,
                                ::mnl_socket_get_portid(socket_.get()), each, data);
            if (more < 0) return errno;
        }
        return 0;
    }

private:
    std::unique_ptr<mnl_socket, CloseSocket> socket_;
    int error_ = 0;
};

class Request {
public:
    Request(std::uint16_t type, std::uint16_t flags) : header_(::mnl_nlmsg_put_header(bytes_)) {
        header_->nlmsg_type = type;
        header_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        body_ = static_cast<ifaddrmsg*>(::mnl_nlmsg_put_extra_header(header_, sizeof(ifaddrmsg)));
    }
    nlmsghdr* header() { return header_; }
    ifaddrmsg& body() { return *body_; }

    void name(const InterfaceAddress& address, unsigned interface) {
        body_->ifa_family = static_cast<std::uint8_t>(address.family);
        body_->ifa_prefixlen = address.prefix;
        body_->ifa_index = interface;
        ::mnl_attr_put(header_, IFA_LOCAL, address.size(), address.bytes.data());
        ::mnl_attr_put(header_, IFA_ADDRESS, address.size(), address.bytes.data());
    }

private:
    alignas(nlmsghdr) char bytes_[512] = {};
    nlmsghdr* header_;
    ifaddrmsg* body_;
};

int take_attribute(const nlattr* attribute, void* data) {
    auto& present = *static_cast<PresentAddress*>(data);
    const std::uint16_t type = ::mnl_attr_get_type(attribute);
    // Of IPv4 the local one, which comes second, is the host's; IPv6 has one of the two.
    if (type == IFA_LOCAL || type == IFA_ADDRESS)
        std::memcpy(
            present.address.bytes.data(), ::mnl_attr_get_payload(attribute),
            std::min<std::size_t>(::mnl_attr_get_payload_len(attribute), present.address.size()));
    if (type == IFA_PROTO && ::mnl_attr_get_u8(attribute) == address_mark) present.ours = true;
    if (type == IFA_CACHEINFO && ::mnl_attr_get_payload_len(attribute) >= sizeof(ifa_cacheinfo)) {
        ifa_cacheinfo lifetime{};
        std::memcpy(&lifetime, ::mnl_attr_get_payload(attribute), sizeof lifetime);
        if (lifetime.ifa_valid <= address_lifetime_s) present.ours = true;
    }
    return MNL_CB_OK;
}

int collect(const nlmsghdr* message, void* data) {
    const auto* body = static_cast<const ifaddrmsg*>(::mnl_nlmsg_get_payload(message));
    if (body->ifa_family != AF_INET && body->ifa_family != AF_INET6) return MNL_CB_OK;
    PresentAddress present;
    present.address.family = body->ifa_family;
    present.address.prefix = body->ifa_prefixlen;
    present.interface = body->ifa_index;
    ::mnl_attr_parse(message, sizeof(ifaddrmsg), take_attribute, &present);
    static_cast<std::vector<PresentAddress>*>(data)->push_back(present);
    return MNL_CB_OK;
}

/// Of the interface's own addresses; what has been put there by this program does not count.
bool has_network(const std::vector<PresentAddress>& all, unsigned interface,
                 const InterfaceAddress& address) {
    return std::any_of(all.begin(), all.end(), [&](const PresentAddress& one) {
        return one.interface == interface && !one.ours && one.address.prefix == address.prefix &&
               same_network(address, one.address);
    });
}

ifa_cacheinfo lifetime_of(const InterfaceAddress& address) {
    ifa_cacheinfo lifetime{};
    lifetime.ifa_valid = address_lifetime_s;
    // IPv6: never the source of what this host sends for itself, such as the sessions between the
    // nodes, which would break when it goes.
    lifetime.ifa_prefered = address.family == AF_INET6 ? 0 : address_lifetime_s;
    return lifetime;
}

/// 0 as well when it is not there, or the interface is not.
int remove(unsigned interface, const InterfaceAddress& address) {
    Request request(RTM_DELADDR, NLM_F_ACK);
    request.name(address, interface);
    const int error = RouteSocket().ask(request.header());
    const bool gone = error == EADDRNOTAVAIL || error == ENODEV;
    return gone ? 0 : error;
}

}  // namespace

tl::expected<std::vector<PresentAddress>, int> present_addresses() {
    Request request(RTM_GETADDR, NLM_F_DUMP);
    std::vector<PresentAddress> all;
    // A change in the middle of it makes the kernel ask for another try.
    constexpr int tries = 20;
    int error = EINTR;
    for (int i = 0; i < tries && error == EINTR; ++i) {
        all.clear();
        error = RouteSocket().ask(request.header(), collect, &all);
    }
    if (error != 0) return tl::unexpected(error);
    return all;
}

int put_on(const std::string& device, const InterfaceAddress& address) {
    const unsigned interface = ::if_nametoindex(device.c_str());
    if (interface == 0) return errno;
    Request request(RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
    request.name(address, interface);
    std::uint32_t flags = 0;
    if (address.family == AF_INET6) {
        // Usable at once: another host can't have it, and would not be asked by the time it counts.
        flags |= IFA_F_NODAD;
        // A route to a network that the interface has by itself would end with this address's time.
        const auto all = present_addresses();
        if (all && has_network(*all, interface, address)) flags |= IFA_F_NOPREFIXROUTE;
    }
    const ifa_cacheinfo lifetime = lifetime_of(address);
    ::mnl_attr_put(request.header(), IFA_CACHEINFO, sizeof lifetime, &lifetime);
    ::mnl_attr_put_u32(request.header(), IFA_FLAGS, flags);
    ::mnl_attr_put_u8(request.header(), IFA_PROTO, address_mark);
    return RouteSocket().ask(request.header());
}

int take_off(const std::vector<InterfaceAddress>& addresses) {
    if (addresses.empty()) return 0;  // of a command, for which nothing is asked of the kernel
    // Once for those that are there, and once more for what has been put on meanwhile.
    constexpr int tries = 3;
    for (int i = 0; i < tries; ++i) {
        const auto left = present_addresses();
        if (!left) return left.error();
        bool off = true;
        for (const PresentAddress& one : *left) {
            if (!one.ours || !is_one_of(addresses, one.address)) continue;
            off = false;
            if (const int error = remove(one.interface, one.address); error != 0) return error;
        }
        if (off) return 0;
    }
    return EBUSY;
}

int try_permission(const std::string& device, const InterfaceAddress& address) {
    const unsigned interface = ::if_nametoindex(device.c_str());
    return interface == 0 ? errno : remove(interface, address);
}

}  // namespace bullring
