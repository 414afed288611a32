#include "src/node/net/outbox.hpp"

#include <algorithm>
#include <iterator>

#include "protocol/values/assert.hpp"

namespace bullring {

namespace {

template <typename T>
auto at(std::vector<T>& from, std::size_t index) {
    return std::next(from.begin(), static_cast<std::ptrdiff_t>(index));
}

}  // namespace

bool Outbox::push(Kind kind, std::span<const std::byte> frame) {
    if (kind != Kind::plain) drop_older(kind);
    if (size() + frame.size() > bytes_max_) return false;
    if (begin_ >= bytes_max_) {
        bytes_.erase(bytes_.begin(), at(bytes_, begin_));
        begin_ = 0;
    }
    bytes_.insert(bytes_.end(), frame.begin(), frame.end());
    entries_.push_back({kind, frame.size()});
    return true;
}

void Outbox::drop_older(Kind kind) {
    std::size_t offset = begin_ - taken_of_first_;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const bool begun = i == 0 && taken_of_first_ > 0;
        if (entries_[i].kind == kind && !begun) {
            bytes_.erase(at(bytes_, offset), at(bytes_, offset + entries_[i].size));
            entries_.erase(at(entries_, i));
            return;  // there is never a second one
        }
        offset += entries_[i].size;
    }
}

void Outbox::consume(std::size_t count) {
    BULLRING_ASSERT(count <= size());
    begin_ += count;
    std::size_t whole = 0;
    taken_of_first_ += count;
    while (whole < entries_.size() && taken_of_first_ >= entries_[whole].size) {
        taken_of_first_ -= entries_[whole].size;
        ++whole;
    }
    entries_.erase(entries_.begin(), at(entries_, whole));
    if (empty()) clear();
}

void Outbox::clear() {
    bytes_.clear();
    entries_.clear();
    begin_ = 0;
    taken_of_first_ = 0;
}

}  // namespace bullring
