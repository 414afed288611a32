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

// All forms for ordinary alignment: a sanitizer's own would not call these, and what one of them
// gives out only one of them may take back.
void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
    return bullring::test::fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

void* operator new(std::size_t size) {
    if (void* const memory = operator new(size, std::nothrow)) return memory;
    throw std::bad_alloc();
}

void* operator new[](std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
    return operator new(size, std::nothrow);
}

void* operator new[](std::size_t size) { return operator new(size); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*unused*/) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*unused*/) noexcept {
    std::free(memory);
}
