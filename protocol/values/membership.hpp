// The members, the size of a majority, and the order of the ring. Static (A1).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "protocol/values/ids.hpp"

namespace bullring::protocol {

inline constexpr std::size_t members_max = 64;

/// Position of a member in ascending order of ids; bit i of a mask is the member at index i.
using Index = std::uint8_t;

/// A set of members. Votes are sets of voters, never counts of messages.
class MemberSet {
public:
    constexpr MemberSet() = default;
    constexpr explicit MemberSet(std::uint64_t bits) : bits_(bits) {}

    /// The members in ascending order.
    class Iterator {
    public:
        constexpr explicit Iterator(std::uint64_t rest) : rest_(rest) {}
        constexpr Index operator*() const { return static_cast<Index>(std::countr_zero(rest_)); }
        constexpr Iterator& operator++() {
            rest_ &= rest_ - 1;
            return *this;
        }
        constexpr bool operator==(const Iterator&) const = default;

    private:
        std::uint64_t rest_;
    };
    constexpr Iterator begin() const { return Iterator(bits_); }
    constexpr Iterator end() const { return Iterator(0); }

    constexpr bool contains(Index i) const { return (bits_ >> i & 1U) != 0; }
    constexpr bool contains_all(MemberSet others) const { return (others.bits_ & ~bits_) == 0; }
    constexpr void insert(Index i) { bits_ |= std::uint64_t{1} << i; }
    constexpr void erase(Index i) { bits_ &= ~(std::uint64_t{1} << i); }
    constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(bits_)); }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr std::uint64_t bits() const { return bits_; }
    constexpr bool operator==(const MemberSet&) const = default;
    auto digest_fields() const { return std::tie(bits_); }

private:
    std::uint64_t bits_ = 0;
};

class Membership {
public:
    Membership() = default;
    /// Sorts; at most members_max ids, all different and not `nobody` (the caller validates).
    explicit Membership(std::vector<NodeId> ids);

    std::size_t size() const { return ids_.size(); }
    /// ⌊N/2⌋+1; derived, never a knob.
    std::size_t majority() const { return ids_.size() / 2 + 1; }
    MemberSet all() const {
        return MemberSet(size() == members_max ? ~std::uint64_t{0}
                                               : (std::uint64_t{1} << size()) - 1);
    }
    NodeId id(Index i) const { return ids_[i]; }
    const std::vector<NodeId>& ids() const { return ids_; }
    std::optional<Index> index(NodeId id) const;
    /// The member `steps` places further on the ring, in ascending order of ids, wrapping round.
    Index ring_next(Index from, std::size_t steps = 1) const {
        return static_cast<Index>((from + steps) % ids_.size());
    }
    bool operator==(const Membership&) const = default;

private:
    std::vector<NodeId> ids_;
};

}  // namespace bullring::protocol
