// Lists that other members show (PROTOCOL C6.1, C8.1, C12): what is taken of them on sight.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// The word of a peer on its cluster.
struct Word {
    Membership list{};   // that holds for it
    Membership shown{};  // of who has none: the newest that it was shown
    ClusterId cluster_id{};
};

/// The one door (C12.1) for what somebody says who has been judged to be of this cluster, by his
/// HELLO here, or by this node's HELLO there.
void believe(Parts& node, Step& step, const Word& word);
/// A list that was judged already.
void on_shown(Parts& node, Step& step, const Membership& shown);
bool is_of_other_cluster(const Parts& node, const Membership& shown);
/// The newest list that was shown is asked for on the disk, where nothing speaks against it.
void take_shown(Parts& node, Instant now);

}  // namespace bullring::protocol
