// Owns: a value that one thread writes again and again, and another one reads. Neither ever waits,
// nor allocates: of three slots each side has one, and the third changes hands.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace bullring {

template <class T>
class Latest {
public:
    /// The writer's thread: what publish() will hand over. It holds an older value, whose memory
    /// can be used again.
    T& next() { return slots_[writers_]; }
    /// The writer's thread.
    void publish() {
        writers_ = handed_.exchange(static_cast<std::uint8_t>(writers_ | fresh),
                                    std::memory_order_acq_rel) &
                   static_cast<std::uint8_t>(~fresh);
    }

    /// The reader's thread: the newest that was published, or T{} if nothing was. It stays as it is
    /// until the next call.
    const T& read() {
        if ((handed_.load(std::memory_order_relaxed) & fresh) != 0)
            readers_ = handed_.exchange(readers_, std::memory_order_acq_rel) &
                       static_cast<std::uint8_t>(~fresh);
        return slots_[readers_];
    }

private:
    static constexpr std::uint8_t fresh = 4;

    std::array<T, 3> slots_{};
    std::uint8_t writers_ = 0;
    std::uint8_t readers_ = 1;
    std::atomic<std::uint8_t> handed_{2};
};

}  // namespace bullring
