#include "src/task/address/preparation.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/os/start_wait.hpp"
#include "src/task/address/address_table.hpp"

namespace bullring {

namespace {

/// Of the kernel, which says nothing of what it would have permitted.
std::string message(int error) {
    return std::generic_category().message(error) +
           (error == EPERM ? "; bullring address needs CAP_NET_ADMIN, and CAP_NET_RAW to announce"
                           : "");
}

std::vector<std::string> device_names() {
    std::vector<std::string> names;
    const std::unique_ptr<struct if_nameindex, decltype(&::if_freenameindex)> all(
        ::if_nameindex(), &::if_freenameindex);
    for (auto* one = all.get(); one != nullptr && one->if_index != 0; ++one)
        names.emplace_back(one->if_name);
    return names;
}

std::string device_name(unsigned interface) {
    char name[IF_NAMESIZE] = {};
    return ::if_indextoname(interface, name) != nullptr ? name : std::to_string(interface);
}

/// Under which /proc knows an interface, which may have alternative names.
std::string own_name(const std::string& device) {
    return device_name(::if_nametoindex(device.c_str()));
}

bool ipv6_is_disabled(const std::string& device) {
    const std::string path = "/proc/sys/net/ipv6/conf/" + own_name(device) + "/disable_ipv6";
    const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char digit = '1';
    return !file || ::read(file.get(), &digit, 1) != 1 || digit != '0';
}

bool has_ipv4_network(const InterfaceAddress& address) {
    return address.family == AF_INET && address.prefix < 32;
}

/// The first IPv4 address of a network takes the others with it when it goes, unless the kernel is
/// told otherwise, as systemd does, but not that of Debian.
void keep_others_when_ours_go(const HeldAddresses& held,
                              const std::vector<PresentAddress>& leftovers) {
    const bool matters =
        std::any_of(held.all().begin(), held.all().end(), has_ipv4_network) ||
        std::any_of(leftovers.begin(), leftovers.end(),
                    [](const PresentAddress& one) { return has_ipv4_network(one.address); });
    if (!matters) return;
    const std::string path =
        "/proc/sys/net/ipv4/conf/" + own_name(held.device()) + "/promote_secondaries";
    const OwnedFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    char digit = '0';
    if (file && ::read(file.get(), &digit, 1) == 1 && digit != '0') return;
    if (file && ::pwrite(file.get(), "1", 1, 0) == 1) return;
    log(LogLevel::warn,
        path +
            " is 0 and cannot be set: addresses that are added to a network of a bullring "
            "address later may go with it");
}

/// An earlier run may have left its addresses on any interface, for `--dev` may have been another
/// one. An address that is not ours may be the one by which this host is reached.
tl::expected<void, std::string> check_may_go(const PresentAddress& present) {
    if (present.ours) return {};
    return tl::unexpected(fmt::format(
        "{0} is on {1} already, and bullring has not put it there; take it off first (ip "
        "address del {2} dev {1}), or give another address",
        host_text(present.address), device_name(present.interface), to_text(present.address)));
}

bool is_there(const HeldAddresses& held) { return ::if_nametoindex(held.device().c_str()) != 0; }

}  // namespace

void wait_for_device(const HeldAddresses& held) {
    if (held.device().empty()) return;
    const auto look = [&]() -> Obstacles {
        const auto checked = check_device(held);
        return checked ? Obstacles{} : Obstacles{checked.error()};
    };
    wait_to_start(look, &print_error);
}

tl::expected<void, std::string> check_device(const HeldAddresses& held) {
    if (!is_there(held))
        return tl::unexpected(
            fmt::format("--dev: there is no network interface \"{}\"; there is {}", held.device(),
                        fmt::join(device_names(), ", ")));
    for (const InterfaceAddress& address : held.all())
        if (address.family == AF_INET6 && ipv6_is_disabled(held.device()))
            return tl::unexpected(
                fmt::format("{} cannot be put on {}: IPv6 is disabled there "
                            "(net.ipv6.conf.{}.disable_ipv6); expected an IPv4 address, or another "
                            "interface",
                            to_text(address), held.device(), held.device()));
    return {};
}

tl::expected<void, std::string> clear_leftovers(const HeldAddresses& held) {
    if (held.all().empty()) return {};
    const auto present = present_addresses();
    if (!present)
        return tl::unexpected("cannot read the addresses of this host: " +
                              message(present.error()));
    std::vector<PresentAddress> leftovers;
    std::copy_if(present->begin(), present->end(), std::back_inserter(leftovers),
                 [&](const PresentAddress& one) { return is_one_of(held.all(), one.address); });
    for (const PresentAddress& one : leftovers)
        if (auto may_go = check_may_go(one); !may_go) return may_go;
    keep_others_when_ours_go(held, leftovers);
    int error = take_off(held.all());
    for (const InterfaceAddress& address : held.all())
        if (error == 0) error = try_permission(held.device(), address);
    if (error != 0)
        return tl::unexpected(
            fmt::format("cannot change the addresses of {}: {}", held.device(), message(error)));
    for (const PresentAddress& one : leftovers)
        log(LogLevel::warn, fmt::format("took {} off {}, where an earlier run left it",
                                        to_text(one.address), device_name(one.interface)));
    if (const int refused = Announcer(held.device()).error(); refused != 0)
        log(LogLevel::warn,
            fmt::format("cannot announce addresses: {}; without CAP_NET_RAW the neighbours go on "
                        "sending to the host that had them before",
                        std::generic_category().message(refused)));
    return {};
}

}  // namespace bullring
