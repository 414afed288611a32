// A digest of a node's state, so that replays can be compared and states told apart. It sees every
// field as it is; what makes two states the same to somebody else is that somebody's digest.
#pragma once

#include <cstdint>

#include "protocol/values/fields.hpp"

namespace bullring::protocol {

class Digest {
public:
    std::uint64_t value() const { return value_; }

    template <class T>
    void add(const T& field) {
        take_apart(field, *this);
    }

    /// One number, as take_apart() hands it over.
    void word(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x9E37'79B9'7F4A'7C15ULL;
        value_ ^= value_ >> 29U;
    }

private:
    std::uint64_t value_ = 0x2545'F491'4F6C'DD1DULL;
};

}  // namespace bullring::protocol
