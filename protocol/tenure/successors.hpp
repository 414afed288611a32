// Whom a leader can hand over to (PROTOCOL R5.8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// Why a member could not take over now; the first three no waiting changes.
enum class Unfit : std::uint8_t {
    stranger,
    leader_itself,
    never_leads,
    not_connected,
    silent,
    no_work,
    not_standing,
    no_majority,
};

/// nullopt: that member could take over.
std::optional<Unfit> unfit(const Parts& node, NodeId to, Instant now);
/// The same, where a user wishes it: nobody is taken from work to one without any.
std::optional<Unfit> unfit_by_wish(const Parts& node, NodeId to, Instant now);
std::string text(Unfit unfit, NodeId of);
NodeId best_successor(const Parts& node, Instant now);
/// The highest of those that could take over and are asked for the leadership (R5.16).
NodeId best_asked(const Parts& node, Instant now);
/// Of a leader whose task has ended by itself (R5.17).
NodeId successor_of_ended(const Parts& node, Instant now);

}  // namespace bullring::protocol
