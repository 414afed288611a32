// Owns: the messages between a node and `bullring lead` on the same machine, over a socket in the
// node's data directory: one record a packet. The connection stays open for as long as anything of
// the command may run: its end is what the node waits for.
#pragma once

#include <cstdint>

namespace bullring {

/// To the node, once.
struct LeadRequest {
    static constexpr std::uint32_t magic_now = 0x42524c31;  // changes with these records
    std::uint32_t magic = magic_now;
};

/// From the node: `not_leading` at once if it is so, then whatever comes.
struct LeadAnswer {
    enum class Kind : std::uint32_t {
        not_leading,
        lock,  // with the descriptor of one of the directory's locks, held while the command may
               // run
        go,    // with the descriptor of a SharedLeasePage: the command may run
        stop,  // the command has to end
        misplaced,  // no command may begin: its locks would be those of another directory than a
                    // node takes that is started next
    };
    Kind kind = Kind::not_leading;
    std::uint32_t padding = 0;
    std::uint64_t epoch = 0;
    std::uint64_t node = 0;
    std::int64_t lease_ns = 0;
    char cluster[72] = {};  // with its end
};

}  // namespace bullring
