#include "src/os/boot_name.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>

namespace bullring {

namespace {

/// "+86400.000000000"; empty in the machine's own namespace, and where there are none.
std::string namespace_offset() {
    std::ifstream file("/proc/self/timens_offsets");
    std::string clock, seconds, nanoseconds;
    while (file >> clock >> seconds >> nanoseconds) {
        if (clock != "boottime") continue;
        if (seconds == "0" && nanoseconds == "0") return "";
        return (seconds.starts_with('-') ? "" : "+") + seconds + "." +
               std::string(9 - std::min<std::size_t>(9, nanoseconds.size()), '0') + nanoseconds;
    }
    return "";
}

}  // namespace

std::string boot_name() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    if (!(file >> id)) return "";
    return id + namespace_offset();
}

}  // namespace bullring
