// A set of digests that only grows: eight bytes for each of them, and some air. Not safe to grow
// while somebody looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bullring::sim::explore {

class DigestSet {
public:
    DigestSet() : slots_(std::size_t{1} << 16U, empty_slot) {}

    std::size_t size() const { return size_; }
    bool contains(std::uint64_t digest) const { return slots_[place_of(digest)] != empty_slot; }

    /// False: it was there before.
    bool insert(std::uint64_t digest) {
        const std::size_t place = place_of(digest);
        if (slots_[place] != empty_slot) return false;
        slots_[place] = stored(digest);
        if (++size_ * 3 > slots_.size() * 2) grow();
        return true;
    }

private:
    static constexpr std::uint64_t empty_slot = 0;
    static constexpr std::uint64_t stored(std::uint64_t digest) {
        return digest == empty_slot ? 1 : digest;
    }

    /// Where it is, or the empty slot where it would be.
    std::size_t place_of(std::uint64_t digest) const {
        const std::uint64_t wanted = stored(digest);
        const std::size_t mask = slots_.size() - 1;
        std::size_t place = wanted & mask;
        while (slots_[place] != empty_slot && slots_[place] != wanted) place = (place + 1) & mask;
        return place;
    }

    void grow() {
        std::vector<std::uint64_t> old(slots_.size() * 2, empty_slot);
        old.swap(slots_);
        for (const std::uint64_t digest : old)
            if (digest != empty_slot) slots_[place_of(digest)] = digest;
    }

    std::vector<std::uint64_t> slots_;  // a power of two of them
    std::size_t size_ = 0;
};

}  // namespace bullring::sim::explore
