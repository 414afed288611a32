#include "protocol/membership/identity.hpp"

#include <string>
#include <utility>

#include "protocol/sessions/ends.hpp"

namespace bullring::protocol {

bool may_take_list_of(const Parts& node, Index from, const std::optional<Identity>& named) {
    const std::uint16_t version = node.version_with(from);
    if (!node.identity().id || (version != 0 && version < version_with_named_lists)) return true;
    return named && named->id && !are_of_different_clusters(node.cluster_id(), named->id);
}

void note_list_refused(Parts& node, Step& step, Index from, const Tag& tag) {
    Peer& peer = node.peers[from];
    if (std::exchange(peer.list_refused, peer.incarnation) == peer.incarnation) return;
    step.act(Note{Note::Level::warning, node.id(from),
                  "its list of members, " + to_text(tag) +
                      ", is newer than this node's and of no cluster with an id, and this one has "
                      "the id " +
                      to_text(node.identity().id) +
                      ": it is not taken; if that node's state directory is an old one, end it, "
                      "delete the directory, and start it again; if it has just been upgraded, "
                      "start it with --wire 4 until there is a leader"});
}

std::optional<ClusterId> answered_id(const Parts& node) {
    ClusterId found;
    for (const Index i : node.setup.others()) {
        if (!node.peers[i].has_ack) continue;
        const ClusterId said = node.peers[i].ack.cluster_id;
        if (are_of_different_clusters(found, said)) return std::nullopt;
        if (said) found = said;
    }
    return found;
}

bool is_of_answered_cluster(const Parts& node, Index from, const std::optional<Identity>& named) {
    const auto answered = answered_id(node);
    if (!answered) return false;
    const std::uint16_t version = node.version_with(from);
    if (!*answered || (version != 0 && version < version_with_named_lists)) return true;
    return named && named->id == *answered;
}

Identity answered_identity(const Parts& node) {
    if (const ClusterId settled = *answered_id(node)) return {settled, {}, false};
    Identity newest;
    for (const Index i : node.setup.others()) {
        const std::optional<Identity>& has = node.peers[i].ack.identity;
        const bool believed = node.peers[i].has_ack && has && has->epoch <= node.max_seen;
        if (believed && has->rank() > newest.rank()) newest = *has;
    }
    return {newest.id, newest.epoch, false};
}

void learn_identity(Parts& node, Step& step, const Identity& told) {
    if (node.config().wire_highest < version_with_identity || !told.id) return;
    const Identity before = node.reserve.newest_identity();
    node.reserve.want(told);
    const Identity& now = node.reserve.newest_identity();
    // C12.5: it could not be judged when it was shown.
    if (now.id != before.id) node.changes.shown = node.list();
    if (now.known() != before.known()) part_with_strangers(node, step);
}

void learn_with_list(Parts& node, Step& step, const std::optional<Identity>& named) {
    if (named) learn_identity(node, step, {named->id, named->epoch, false});
}

void part_with_strangers(Parts& node, Step& step) {
    for (const Index i : node.setup.others())
        if (is_stranger(node, i)) part_with(node, step, i);
}

bool is_stranger(const Parts& node, Index i) {
    return are_of_different_clusters(node.cluster_id(), node.peers[i].cluster_id);
}

void part_with(Parts& node, Step& step, Index i) {
    close_all_accepted(node, step, i);
    // The sessions that its grants may be tied to stay open, until it closes them itself.
    if (node.tenure.follows()) dial_again(node, step, i);
}

}  // namespace bullring::protocol
