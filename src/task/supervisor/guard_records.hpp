// Owns: the messages between a node and the guard of its command (src/base/os/record_socket.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bullring {

struct GuardOrder {
    enum class Kind : std::uint32_t {
        hold,    // keep the descriptor open as long as a command may run
        start,   // the command, under `epoch`; the descriptor, if any, becomes BULLRING_PROGRESS_FD
        stop,    // SIGTERM, and SIGKILL after its time
        signal,  // pass `signal` on to the command
        keep,    // the descriptor of `session`, for the last word
        forget,  // `session`
        notice,  // the descriptor is the undertaker's: one byte when nothing of the command is left
    };
    Kind kind = Kind::stop;
    std::int32_t signal = 0;
    std::uint64_t epoch = 0;
    std::uint64_t session = 0;  // the node's number for it
    /// Of `start`: what is to be said on the sessions if the node dies, once nothing of the command
    /// is left: the frame by which the node itself would resign this epoch.
    static constexpr std::size_t last_word_max = 96;
    std::uint32_t last_word_bytes = 0;
    std::array<std::byte, last_word_max> last_word{};
};

struct GuardReport {
    enum class Kind : std::uint32_t {
        started,      // `pid` is the command, and its process group
        not_started,  // `error`: an errno
        stopped,      // the command stands still, by signal `status`
        ended,        // nothing of it is left
    };
    enum class Cause : std::uint32_t { by_itself, asked, deadline, lost };
    Kind kind = Kind::ended;
    Cause cause = Cause::by_itself;  // of `ended`
    std::int32_t pid = 0;
    std::int32_t status = 0;         // of `ended`: what waitpid() gave
    std::int32_t error = 0;          // of `not_started`
    std::uint32_t had_terminal = 0;  // of `ended`: Ctrl-C went to it alone
    std::uint64_t epoch = 0;
};

}  // namespace bullring
