// Owns: the frames of one connection that the kernel has not taken yet, in order and bounded. A
// heartbeat or a lease request that waits here is replaced by a newer one of its kind; a frame of
// which the kernel has taken the first byte is never touched again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bullring {

class Outbox {
public:
    /// `newest_*`: only the newest of its kind is worth sending.
    enum class Kind : std::uint8_t { plain, newest_heartbeat, newest_coordinator };

    explicit Outbox(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    /// False, and nothing is changed but a replaced frame, when there is no room.
    bool push(Kind kind, std::span<const std::byte> frame);
    bool empty() const { return begin_ == bytes_.size(); }
    std::size_t size() const { return bytes_.size() - begin_; }
    /// All that waits, as one piece: one system call sends it.
    std::span<const std::byte> waiting() const { return std::span(bytes_).subspan(begin_); }
    /// The kernel has taken the first `count` bytes of `waiting()`.
    void consume(std::size_t count);
    void clear();

private:
    struct Entry {
        Kind kind;
        std::size_t size;
    };

    void drop_older(Kind kind);

    std::size_t bytes_max_;
    std::vector<std::byte> bytes_;  // keeps its capacity: a heartbeat allocates nothing
    std::size_t begin_ = 0;
    std::vector<Entry> entries_;
    std::size_t taken_of_first_ = 0;
};

}  // namespace bullring
