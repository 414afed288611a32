// Which nodes run on this machine.
#include "src/observe/local_nodes.hpp"

#include <doctest/doctest.h>

namespace bullring::local_nodes_test {

TEST_CASE("local nodes: their directories are those of the control sockets that the kernel lists") {
    CHECK(directories_of_local_nodes(
              "Num       RefCount Protocol Flags    Type St Inode Path\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 101 /var/lib/bullring/a "
              "b/control.sock\n"
              "0000000000000000: 00000003 00000000 00000000 0001 03 102 /var/lib/bullring/a "
              "b/control.sock\n"
              "0000000000000000: 00000003 00000000 00000000 0001 03 103\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 104 /run/other.sock\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 105 @/abstract/control.sock\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 106 relative/control.sock\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 107 "
              "/proc/thread-self/fd/7/control.sock\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 108 /srv/n/control.sock") ==
          std::vector<std::string>{"/var/lib/bullring/a b", "/srv/n"});
    CHECK(directories_of_local_nodes("").empty());
}

}  // namespace bullring::local_nodes_test
