#include "tests/support/failing_allocation.hpp"

#include <cstdlib>
#include <limits>
#include <new>

namespace bullring::test {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// How many allocations succeed before one fails.
thread_local std::size_t left = none;
thread_local bool failed = false;

}  // namespace

FailingAllocation::FailingAllocation(std::size_t after) {
    failed = false;
    left = after;
}

FailingAllocation::~FailingAllocation() { left = none; }

bool FailingAllocation::happened() const { return failed; }

static bool fails() {
    if (left == none) return false;
    if (left != 0) {
        --left;
        return false;
    }
    left = none;
    return failed = true;
}

}  // namespace bullring::test

// new[] and the forms that do not throw call this one; so do those of delete with theirs.
void* operator new(std::size_t size) {
    if (bullring::test::fails()) throw std::bad_alloc();
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
