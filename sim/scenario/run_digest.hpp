// A digest of a whole run: equal histories have equal digests, on every compiler and machine.
#pragma once

#include <cstdint>

#include "sim/world/world.hpp"

namespace bullring::sim {

class RunDigest : public Observer {
public:
    std::uint64_t value() const { return value_; }
    void finish(const World& world) {
        for (HostIndex h = 0; h < world.hosts(); ++h)
            if (world.host(h).running()) mix(world.host(h).node->digest());
    }

    void before_step(const World& world, HostIndex h, Instant now,
                     const protocol::Event& event) override {
        mix(static_cast<std::uint64_t>(world.now()));
        mix(static_cast<std::uint64_t>(now.boottime_ns));
        mix(h * 16 + event.index());
    }
    void on_action(const World&, HostIndex h, Instant, const protocol::Action& action) override {
        const auto* send = std::get_if<protocol::Send>(&action);
        mix(h * 1024 + action.index() * 32 + (send == nullptr ? 0 : send->message.index()));
    }

private:
    void mix(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x9E37'79B9'7F4A'7C15ULL;
        value_ ^= value_ >> 29U;
    }

    std::uint64_t value_ = 0x2545'F491'4F6C'DD1DULL;
};

}  // namespace bullring::sim
