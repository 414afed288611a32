// The looks of a picture: the kinds of arrows and what the legend says about them, colours and
// strokes for light and dark paper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace bullring::protocol::diagram {

/// The meaning of an arrow: the kind of its message, divided where one kind means two things.
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

enum class Theme : std::uint8_t {
    automatic,  // as the reader's browser prefers
    light,
    dark,
};

const char* name(Theme theme);

/// The inside of <style>. With Theme::automatic the light rules, and the dark ones for browsers
/// that prefer them.
std::string style_sheet(Theme theme, const std::set<Look>& used);

}  // namespace bullring::protocol::diagram
