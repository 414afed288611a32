// Lets one allocation of the calling thread fail: the test program's operator new is replaced.
#pragma once

#include <cstddef>

namespace bullring::test {

class FailingAllocation {
public:
    /// The next allocations succeed, `after` of them; the one behind them throws std::bad_alloc.
    explicit FailingAllocation(std::size_t after);
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;
    ~FailingAllocation();

    bool happened() const;
};

}  // namespace bullring::test
