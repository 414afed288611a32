// Owns: the orders of a node to its undertaker (src/base/os/record_socket.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sys/socket.h>

namespace bullring {

struct UndertakerOrder {
    enum class Kind : std::uint32_t {
        words,   // `first` begins each connection; `last` is said when the node has ended
        mourn,   // hold a connection with `peer` at `address`, a new one
        guard,   // the descriptor shows when nothing of the command is left; it replaces the last
        hold,    // the descriptor is to be open as long as this process runs
        client,  // that process ends with the node, before anything is said; no descriptor: none
                 // does, and no session is kept any more
        keep,    // the descriptor of `session`, on which `last` of `client` is said, too
        forget,  // `session`
        over,    // the node has ended, though its process has not yet
    };
    static constexpr std::size_t word_bytes_max = 96;
    static constexpr std::size_t held_max = 2;
    struct Word {
        std::uint32_t bytes = 0;
        std::array<std::byte, word_bytes_max> data{};
    };

    Kind kind = Kind::words;
    Word first;
    Word last;
    std::uint64_t peer = 0;
    std::uint64_t session = 0;  // the node's number for it
    socklen_t address_bytes = 0;
    sockaddr_storage address{};
};

}  // namespace bullring
