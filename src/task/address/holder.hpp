// The process that a leader's addresses live by, in the place of a command (src/task/supervisor):
// puts them on the interface, announces them to the neighbours, and renews them. It never takes
// them off: whoever has seen to its end does, so that nothing can put them on again.
#pragma once

#include <string>
#include <vector>

#include "src/base/text/interface_address.hpp"
#include "src/settings/run_options.hpp"
#include "src/task/address/announcement.hpp"
#include "src/watch/lease_page.hpp"

namespace bullring {

/// The addresses that a guard and those beside it take off the interface when no process holds them
/// any more.
class HeldAddresses {
public:
    /// `device` empty: a command is run, and there are none.
    HeldAddresses(std::string device, const Command& texts);
    /// Whether none of them is left, after this.
    bool take_off() const;

    const std::string& device() const { return device_; }
    const std::vector<InterfaceAddress>& all() const { return addresses_; }

private:
    std::string device_;
    std::vector<InterfaceAddress> addresses_;
};

struct Holding {
    const HeldAddresses& addresses;
    protocol::NodeId self;  // for the log
    LogFormat log_format = LogFormat::text;
    const LeasePage& page;
    const Announcer& announcer;
    protocol::Epoch epoch;
    int ready = -1;  // closed when the addresses are there; gets the errno if they can't be
};

/// In a process of its own, with one thread and all signals blocked.
[[noreturn]] void hold_addresses(const Holding& holding);

}  // namespace bullring
