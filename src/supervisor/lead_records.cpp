#include "src/supervisor/lead_records.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

namespace bullring {

sockaddr_un lead_socket_address(int directory) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/{}",
                     directory, lead_socket_name);
    return address;
}

}  // namespace bullring
