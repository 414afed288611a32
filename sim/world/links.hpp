// Which machine can reach which: one-way cuts between ordered pairs.
#pragma once

#include <vector>

#include "sim/world/types.hpp"

namespace bullring::sim {

class Links {
public:
    explicit Links(std::size_t hosts) : hosts_(hosts), cut_(hosts * hosts, false) {}

    bool cut(HostIndex from, HostIndex to) const { return cut_[from * hosts_ + to]; }
    bool either_cut(HostIndex a, HostIndex b) const { return cut(a, b) || cut(b, a); }
    void set(HostIndex from, HostIndex to, bool cut) { cut_[from * hosts_ + to] = cut; }
    std::size_t hosts() const { return hosts_; }

private:
    std::size_t hosts_;
    std::vector<bool> cut_;
};

}  // namespace bullring::sim
