#include "sim/world/lie.hpp"

#include "protocol/values/fields.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

/// Visits a message that is not const: only the way of visiting is.
struct Teller {
    const Lie& lie;

    void take(const Epoch& epoch) const {
        if (lie.field == "epoch")
            const_cast<Epoch&>(epoch) = {static_cast<std::uint64_t>(lie.value)};  // NOLINT
    }
    void take(const Duration& duration) const {
        if (lie.field == "duration") const_cast<Duration&>(duration) = {lie.value};  // NOLINT
    }
    void take(const Instant& instant) const {
        if (lie.field == "stamp")
            const_cast<Instant&>(instant) = instant + Duration{lie.value};  // NOLINT
    }
    void take(const Walk& walk) const {
        if (lie.field == "round")
            const_cast<Walk&>(walk).round = static_cast<std::uint64_t>(lie.value);  // NOLINT
    }
    void word(std::uint64_t /*number*/) const {}
};

}  // namespace

bool say(const Lie& lie, Message& message) {
    if (lie.message != name(message)) return false;
    Teller teller{lie};
    std::visit([&](const auto& m) { take_apart(m, teller); }, message);
    return true;
}

}  // namespace bullring::sim
