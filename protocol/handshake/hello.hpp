// The facts of a HELLO, and of its answers, on the cluster that its sender is of. Judging.cpp
// decides who is taken.
#pragma once

#include <string>

#include "protocol/values/messages.hpp"

namespace bullring::protocol {

inline std::string versions_text(std::uint16_t lowest, std::uint16_t highest) {
    return std::to_string(lowest) + "-" + std::to_string(highest);
}

inline bool has_list(const Hello& hello) { return hello.had_file_at_start || !hello.recovering; }

/// The list that the dialler has, without addresses where nobody has changed it; empty: it has
/// none.
inline Membership shown_by(const Hello& hello) {
    if (hello.changed) return *hello.changed;
    return has_list(hello) && !hello.members.empty() ? Membership(hello.members) : Membership();
}

/// C11: nobody is told by a version that knows of no ids, nor listened to.
inline ClusterId id_told_to(std::uint16_t version, ClusterId id) {
    return version >= version_with_identity ? id : ClusterId{};
}

/// C1.6
inline Refused of_other_cluster(const Membership& mine, const Membership& yours) {
    if (mine.founders() != yours.founders())
        return refusal(Difference::founders, ids_text(mine.founders()), ids_text(yours.founders()));
    const auto text = [](const Membership& list) {
        return ids_text(list.ids()) + " since " + to_text(*list.tag());
    };
    return refusal(Difference::members, text(mine), text(yours));
}

/// C11.4
inline Refused of_other_id(ClusterId mine, ClusterId yours) {
    return refusal(Difference::cluster_id, to_text(mine), to_text(yours));
}

/// Members that refuse a node because of the lists say who they are: the node may be behind.
inline bool is_refused_by_list(const Refused& refused) {
    return differs_in(refused, Difference::members) || differs_in(refused, Difference::member) ||
           differs_in(refused, Difference::id);
}

}  // namespace bullring::protocol
