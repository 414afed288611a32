// Owns: announcing to the neighbours on an interface's network that an address is here now: a
// gratuitous ARP request (RFC 5227), or an unsolicited neighbour advertisement (RFC 4861, 7.2.6);
// and hearing of another host that has the same IPv4 address.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/os/owned_fd.hpp"
#include "src/base/text/interface_address.hpp"

namespace bullring {

/// The sockets are opened once, by the guard, and are there for as long as it is: the kernel waits
/// for all processors when a packet socket is closed for good, and so would whoever waits for the
/// end of a process that has the last one.
class Announcer {
public:
    /// `device` empty: there is nothing to announce.
    explicit Announcer(std::string device);

    /// 0, or an errno. Interfaces without such a protocol (loopback, tunnels) need none: 0.
    int announce(const InterfaceAddress& address) const;

    /// Asks who else has these, and forgets what was heard before.
    void ask(const std::vector<InterfaceAddress>& addresses) const;
    /// Readable when something was said on the network; -1: nothing is heard.
    int fd() const { return arp_.get(); }
    /// Describes the next message: "10.0.0.9 is answered for by 02:…, too". nullopt: it does not
    /// matter. Never waits.
    std::optional<std::string> hear(const std::vector<InterfaceAddress>& addresses) const;

    /// Whether this process may do all that: 0, or an errno.
    int error() const { return error_; }

private:
    std::string device_;
    OwnedFd arp_;
    OwnedFd icmp6_;
    int error_ = 0;
};

}  // namespace bullring
