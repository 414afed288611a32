#include "src/task/address/link_watch.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

/// Readable when something about an interface has changed. What is not a question and not an answer
/// needs no library.
OwnedFd link_changes() {
    OwnedFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
    sockaddr_nl links{};
    links.nl_family = AF_NETLINK;
    links.nl_groups = RTMGRP_LINK;
    if (!socket ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&links), sizeof links) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot watch the interface");
    return socket;
}

}  // namespace

std::string why_unusable(const std::string& device) {
    const OwnedFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    device.copy(request.ifr_name, sizeof request.ifr_name - 1);
    if (!socket || ::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0)
        return device + (errno == ENODEV ? " is gone" : " cannot be asked about");
    const auto flags = static_cast<unsigned>(static_cast<unsigned short>(request.ifr_flags));
    if ((flags & IFF_UP) == 0) return device + " is down";
    if ((flags & IFF_RUNNING) == 0) return device + " has no carrier";
    return {};
}

LinkWatch::LinkWatch(asio::io_context& io, NodeLink& node, std::string device,
                     const MakeHost& make_inner)
    : HostAround(node), device_(std::move(device)), changes_(io, link_changes().release()) {
    enclose(io, make_inner);
    wait_for_change();
    look();
}

LinkWatch::~LinkWatch() { end_inner(); }

void LinkWatch::start(protocol::Epoch epoch) {
    leads_ = true;
    inner().start(epoch);
    if (!unusable_.empty()) hand_over();
}

void LinkWatch::stop(protocol::Epoch epoch, protocol::DeposedReason reason) {
    leads_ = false;
    inner().stop(epoch, reason);
}

void LinkWatch::set_willing(bool willing, const std::string& why) {
    willing_ = willing;
    why_unwilling_ = why;
    if (unusable_.empty()) node().set_willing(willing, why);
}

void LinkWatch::wait_for_change() {
    changes_.async_wait(
        asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
            if (error) return;
            // Some may be lost where there are many: it is the news that counts.
            char news[8192];
            while (::recv(changes_.native_handle(), news, sizeof news, 0) > 0 || errno == ENOBUFS)
                continue;
            look();
            wait_for_change();
        });
}

void LinkWatch::look() {
    const std::string before = std::exchange(unusable_, why_unusable(device_));
    if (unusable_ == before) return;
    if (unusable_.empty()) {
        log(LogLevel::info, device_ + " can be used again");
        return node().set_willing(willing_, why_unwilling_);
    }
    log(LogLevel::warn, unusable_ + "; this node does not stand until it is up");
    node().set_willing(false, unusable_);
    if (leads_) hand_over();
}

/// Also when nobody else can lead: an address that cannot be reached is of no use to anybody.
void LinkWatch::hand_over() { node().tell(protocol::ResignRequested{protocol::nobody, {}, true}); }

}  // namespace bullring
