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
    /// One that another message carries is lied about by its own name.
    void take(const Heartbeat& /*heartbeat*/) const {}
    /// All that has the list shares it; the tag beside it is lied about.
    void take(const Membership& /*list*/) const {}
    void word(std::uint64_t /*number*/) const {}
};

/// The message itself, or what a renewal or its grant carries.
const Heartbeat* heartbeat_in(const Message& message) {
    const auto carried = [](const auto& m) { return m.heartbeat ? &*m.heartbeat : nullptr; };
    if (const auto* request = std::get_if<Coordinator>(&message)) return carried(*request);
    if (const auto* grant = std::get_if<Grant>(&message)) return carried(*grant);
    return std::get_if<Heartbeat>(&message);
}

}  // namespace

bool say(const Lie& lie, Message& message) {
    Teller teller{lie};
    if (lie.message == name(Heartbeat{})) {
        const Heartbeat* heartbeat = heartbeat_in(message);
        if (heartbeat == nullptr) return false;
        for_each_field(*heartbeat, [&](const auto& field) { take_apart(field, teller); });
        return true;
    }
    if (lie.message != name(message)) return false;
    std::visit([&](const auto& m) { take_apart(m, teller); }, message);
    return true;
}

}  // namespace bullring::sim
