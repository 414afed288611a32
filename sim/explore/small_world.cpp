#include "sim/explore/small_world.hpp"

#include <stdexcept>
#include <string>

#include "protocol/values/assert.hpp"

namespace bullring::sim::explore {

namespace {

class BrokenAssertion : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] void throw_broken_assertion(const char* condition, const char* file, int line) {
    throw BrokenAssertion(std::string(condition) + " does not hold (" + file + ":" +
                          std::to_string(line) + ")");
}

}  // namespace

void catch_broken_assertions() { protocol::set_assert_handler(throw_broken_assertion); }

void make(World& world, Checks& checks, const Move& move) {
    try {
        make(world, move);
    } catch (const BrokenAssertion& broken) {
        checks.fail(world, "assertion", broken.what());
    }
}

}  // namespace bullring::sim::explore
