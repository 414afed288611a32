// Owns: what is asked of the kernel's table of addresses, by rtnetlink(7). Every call opens a
// socket of its own, works in one step and never waits for anything but the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "src/base/text/interface_address.hpp"

namespace bullring {

/// Which addresses this program has put on an interface: the kernel keeps the mark with each
/// (IFA_PROTO, since Linux 5.18).
inline constexpr std::uint8_t address_mark = 0xb1;

/// The kernel takes an address off by itself when it has not been renewed for so long: what is left
/// when nobody of this program lives any more. It counts in whole seconds and is up to one late.
inline constexpr std::uint32_t address_lifetime_s = 3;

struct PresentAddress {
    InterfaceAddress address;
    unsigned interface = 0;
    bool ours = false;  // by its mark, or by its lifetime where the kernel keeps no mark
};

/// All addresses of this network namespace. The error is an errno.
tl::expected<std::vector<PresentAddress>, int> present_addresses();

/// Puts it on, renews it, or has it back if somebody has taken it off or made it an address of its
/// own. 0, or an errno.
int put_on(const std::string& device, const InterfaceAddress& address);

/// 0 when the kernel has none of ours any more, on any interface and with any prefix length: an
/// interface may have another name by now. Else an errno.
int take_off(const std::vector<InterfaceAddress>& addresses);

/// 0 if addresses may be put on and taken off; else an errno.
int try_permission(const std::string& device, const InterfaceAddress& address);

}  // namespace bullring
