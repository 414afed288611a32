// Owns: numbers that one thread of a node counts and another one reads, without a lock: the loop
// must not wait for whoever looks at it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "protocol/values/time.hpp"

namespace bullring {

/// One writer at a time, any readers.
class Count {
public:
    void add(std::uint64_t n = 1) {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// A count for each of the names that occur, of which there are few.
class NamedCounts {
public:
    static constexpr std::size_t names_max = 24;

    NamedCounts() = default;
    /// Those that are known before they occur: who watches a rate must see it begin at 0.
    NamedCounts(std::initializer_list<const char*> known)
        : NamedCounts(std::span(known.begin(), known.size())) {}
    explicit NamedCounts(std::span<const char* const> known) {
        std::size_t place = 0;
        for (const char* const name : known) named_.at(place++).name.store(name);
    }

    /// The writer. `name` is a string literal; what is beyond names_max is not counted.
    void add(const char* name) {
        for (Named& one : named_) {
            const char* const known = one.name.load(std::memory_order_relaxed);
            if (known != nullptr && known != name && std::string_view(known) != name) continue;
            one.count.add();
            if (known == nullptr) one.name.store(name, std::memory_order_release);
            return;
        }
    }
    /// A reader: `visit(name, count)`, those that are known first, then the others as they have
    /// occurred.
    template <class Visit>
    void each(Visit visit) const {
        for (const Named& one : named_) {
            const char* const name = one.name.load(std::memory_order_acquire);
            if (name == nullptr) return;
            visit(name, one.count.value());
        }
    }

private:
    struct Named {
        std::atomic<const char*> name{nullptr};
        Count count;
    };
    std::array<Named, names_max> named_;
};

/// How often a time was in which of some ranges. The bounds have static storage.
class DurationCounts {
public:
    static constexpr std::size_t bounds_max = 15;

    /// Rising upper bounds, each included in its range.
    explicit DurationCounts(std::span<const protocol::Duration> bounds) : bounds_(bounds) {}

    /// The writer.
    void add(protocol::Duration what) {
        std::size_t place = 0;
        while (place < bounds_.size() && what > bounds_[place]) ++place;
        counts_[place].add();
        sum_ns_.add(static_cast<std::uint64_t>(what.ns > 0 ? what.ns : 0));
    }
    /// A reader.
    std::span<const protocol::Duration> bounds() const { return bounds_; }
    /// In the range that ends with the bound at `place`; behind the last bound is one more.
    std::uint64_t count(std::size_t place) const { return counts_[place].value(); }
    std::uint64_t sum_ns() const { return sum_ns_.value(); }

private:
    std::span<const protocol::Duration> bounds_;
    std::array<Count, bounds_max + 1> counts_;
    Count sum_ns_;
};

}  // namespace bullring
