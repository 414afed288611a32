// The list of members, K: its tag, its founders, who votes, the size of a majority, the order of
// the ring.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/values/ids.hpp"

namespace bullring::protocol {

inline constexpr std::size_t members_max = 64;

/// A member's slot, which is its own for as long as it is a member; bit i of a mask is the member
/// in slot i.
using Index = std::uint8_t;

/// A set of members. Votes are sets of voters, never counts of messages.
class MemberSet {
public:
    constexpr MemberSet() = default;
    constexpr explicit MemberSet(std::uint64_t bits) : bits_(bits) {}

    /// The members in ascending order of their slots.
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

/// Which of two lists of members is the newer one (C1): the epoch of the leader that has written it
/// and its number among that leader's lists. A cluster begins with (0, 0). Tags of lists of
/// different founders say nothing about each other.
struct Tag {
    Epoch epoch;
    std::uint32_t version = 0;
    constexpr auto operator<=>(const Tag&) const = default;
};

/// "EPOCH.VERSION", as people read it.
std::string to_text(const Tag& tag);

struct MemberEntry {
    NodeId id;
    Index slot = 0;
    bool votes = true;
    std::string address;  // "HOST:PORT"; empty: not known to the list
    bool operator==(const MemberEntry&) const = default;
};

/// In ascending order.
std::vector<NodeId> ids_of(const std::vector<MemberEntry>& entries);

/// "HOST:PORT" of the longest name that DNS knows.
inline constexpr std::size_t member_address_bytes_max = 253 + 1 + 5;

/// A list of members with its tag. Immutable; copies share it.
class Membership {
public:
    /// No list, which is older than every list.
    Membership() = default;
    /// The list that a cluster begins with: all of them vote, and their slots are in the order of
    /// their ids. At most members_max ids, all different and not `nobody` (the caller validates).
    explicit Membership(std::vector<NodeId> ids);
    /// Such a list with addresses; one entry at least.
    static Membership of_founders(std::vector<MemberEntry> entries);
    /// `entries` in any order; at least one votes (is_possible()).
    Membership(Tag tag, std::vector<MemberEntry> entries, std::vector<NodeId> founders);

    /// One to members_max ids, ascending, all different, not `nobody`.
    static bool is_possible(const std::vector<NodeId>& founders);
    /// Such founders; one to members_max ids and slots, all different, not `nobody`; one that votes
    /// at least. Of a list with the tag (0, 0) all members are founders.
    static bool is_possible(const Tag& tag, const std::vector<MemberEntry>& entries,
                            const std::vector<NodeId>& founders);

    bool empty() const { return data().entries.empty(); }
    /// nullopt, which is below all tags, of no list.
    std::optional<Tag> tag() const { return empty() ? std::nullopt : std::optional(data().tag); }
    /// It has been changed since the cluster began.
    bool changed() const { return data().tag != Tag{}; }
    /// That node is no member, and a change is why, not a list that somebody was given wrong.
    bool has_removed(NodeId id) const { return changed() && find(id) == nullptr; }

    /// The members with which the cluster began, in ascending order: by them two clusters of one
    /// name are told apart (C1.4).
    const std::vector<NodeId>& founders() const { return data().founders; }
    /// Both are lists, and their founders differ, or they are not the same though they have been
    /// changed by the same leader at the same time: no cluster has two lists of one tag.
    bool is_of_other_cluster_than(const Membership& other) const {
        if (founders().empty() || other.founders().empty()) return false;
        return founders() != other.founders() ||
               (&data() != &other.data() && changed() && tag() == other.tag() &&
                entries() != other.entries());
    }

    std::size_t size() const { return data().entries.size(); }
    /// One more than the highest slot in use: what is kept by Index has so many places.
    std::size_t places() const { return data().ids.size(); }
    MemberSet all() const { return data().all; }
    MemberSet voters() const { return data().voters; }
    /// ⌊V/2⌋+1 of V voters; derived, never a knob.
    std::size_t majority() const { return voters().size() / 2 + 1; }
    bool is_majority(MemberSet members) const {
        return (members.bits() & voters().bits()) != 0 &&
               MemberSet(members.bits() & voters().bits()).size() >= majority();
    }
    /// `nobody` for a slot that is free.
    NodeId id(Index i) const { return i < places() ? data().ids[i] : nobody; }
    /// In ascending order of ids.
    const std::vector<MemberEntry>& entries() const { return data().entries; }
    std::vector<NodeId> ids() const;
    std::optional<Index> index(NodeId id) const;
    const MemberEntry* find(NodeId id) const;
    /// The member `steps` places further on the ring, in ascending order of ids, wrapping round.
    Index ring_next(Index from, std::size_t steps = 1) const;

    bool operator==(const Membership& other) const {
        return data_ == other.data_ || data() == other.data();
    }
    auto digest_fields() const { return std::tie(data().tag, data().entries, data().founders); }

private:
    struct Data {
        Tag tag;
        std::vector<MemberEntry> entries;  // by id
        std::vector<NodeId> founders;
        // ---- Derived.
        std::vector<NodeId> ids;  // by slot
        MemberSet all;
        MemberSet voters;
        bool operator==(const Data&) const = default;
    };
    static const Data nothing;
    const Data& data() const { return data_ ? *data_ : nothing; }

    std::shared_ptr<const Data> data_;
};

/// "1,2,3"
std::string ids_text(const std::vector<NodeId>& ids);
/// "1,2,3+4": those with a vote, and behind the + those without.
std::string ids_text(const Membership& list);

}  // namespace bullring::protocol
