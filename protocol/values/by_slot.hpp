// Values that are kept for each slot of the list of members, which grows with the list.
#pragma once

#include <vector>

#include "protocol/values/membership.hpp"

namespace bullring::protocol {

/// The entry of that slot, made with `initial` if there is none yet.
template <class T>
T& at_slot(std::vector<T>& entries, Index slot, const T& initial = {}) {
    if (slot >= entries.size()) entries.resize(std::size_t{slot} + 1, initial);
    return entries[slot];
}

template <class T>
T of_slot(const std::vector<T>& entries, Index slot, const T& initial = {}) {
    return slot < entries.size() ? entries[slot] : initial;
}

}  // namespace bullring::protocol
