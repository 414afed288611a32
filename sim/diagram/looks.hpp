// What the messages of a picture look like and what the legend says about them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bullring::sim::diagram {

/// What an arrow stands for: the kinds of messages, told apart where one kind means two things.
enum class Look : std::uint8_t {
    election,
    ok,
    decline,
    leader_is,
    token,
    token_ack,
    coordinator,
    coordinator_token,
    grant,
    announcement,        // a holder's first renewal: that it leads
    announcement_grant,  // the answer to it
    textbook,            // COORDINATOR without a quorum
    nack,
    resign,
    refused,
    fin,
    reset,
    other,
    renewal,
    renewal_grant,
    handshake,
    heartbeat,
};

inline constexpr std::size_t looks = 22;

/// Strong: what an election is made of. Thin: what goes with it. Background: what never stops.
enum class Weight : std::uint8_t { strong, thin, background };

struct LookOf {
    const char* css;      // class
    const char* label;    // on arrows; "" for none
    const char* name;     // in the legend
    const char* meaning;  // in the legend
    Weight weight;
    const char* light;  // colours
    const char* dark;
    const char* dashes;  // "" for a full line
};

const LookOf& look_of(Look look);

}  // namespace bullring::sim::diagram
