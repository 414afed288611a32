#include "src/base/os/boot_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
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

/// As systemd has it, without dashes, and as the kernel writes it. A unit says it where the sandbox
/// hides /proc/sys.
std::string boot_id_of_manager() {
    const char* const given = std::getenv("BOOT_ID");
    std::string id = given == nullptr ? "" : given;
    if (id.size() != 32 || id.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
    for (const std::size_t place : {20U, 16U, 12U, 8U}) id.insert(place, "-");
    return id;
}

}  // namespace

std::string boot_name() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    if (!(file >> id)) id = boot_id_of_manager();
    return id.empty() ? "" : id + namespace_offset();
}

}  // namespace bullring
