#include "protocol/membership/shown.hpp"

#include <string>
#include <utility>

#include "protocol/membership/identity.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

bool is_of_other_cluster(const Parts& node, const Membership& shown) {
    return shown.is_of_other_cluster_than(node.reserve.newest_members());
}

namespace {

bool hears_a_founder(const Parts& node, Instant now) {
    for (const Index i : node.setup.others())
        if (node.peers.heard(i, now) && node.peers[i].founders == node.config().members.founders())
            return true;
    return false;
}

// C8.1
void note_other_founding(Parts& node, Step& step, const Membership& shown) {
    const Instant before =
        std::exchange(node.changes.founded_elsewhere, step.now + node.setup.longest_promise());
    if (!promise_over(step.now, before)) return;  // told already
    const bool added = shown.find(node.setup.self()) != nullptr;
    if (added && shown.changed()) return;  // it is told the list
    step.act(Note{Note::Level::warning, nobody,
                  "a cluster of this name was founded by " + protocol::ids_text(shown.founders()) +
                      ", and not by " + protocol::ids_text(node.config().members.founders()) +
                      ", which peers has: this node founds none, and waits " +
                      (added ? "for a start with those founders in peers"
                             : "for being added there (member add)")});
}

}  // namespace

void on_shown(Parts& node, Step& step, const Membership& shown) {
    if (is_of_other_cluster(node, shown)) return;  // C1.5
    if (node.list().empty() && shown.is_of_other_cluster_than(node.config().members)) {
        note_other_founding(node, step, shown);
        if (hears_a_founder(node, step.now)) return;  // C12.3
    }
    // R9.1: of an epoch that is not believed it is ignored.
    if (!shown.changed() || !node.learn_epoch(step.now, shown.tag()->epoch)) return;
    // C12.3: one of its own founders comes before those of others (C1.4).
    const bool of_others = shown.is_of_other_cluster_than(node.config().members);
    const bool knew_others = node.changes.shown.is_of_other_cluster_than(node.config().members);
    const bool other_founders = !node.changes.shown.empty() && of_others != knew_others;
    if (other_founders ? knew_others : shown.tag() > node.changes.shown.tag())
        node.changes.shown = shown;
}

// C12.1
void believe(Parts& node, Step& step, const Word& word) {
    if (!node.fenced()) return;
    if (are_of_different_clusters(node.cluster_id(), word.cluster_id)) return;
    // C12.2: who has no id can't tell, nor can be told, of which cluster it is.
    if (!node.list().empty() && node.identity().id != word.cluster_id) return;
    on_shown(node, step, word.list);
    // C8.1: one that has none itself keeps others from founding.
    if (node.list().empty()) on_shown(node, step, word.shown);
}

void take_shown(Parts& node, Instant now) {
    if (node.tenure.follows() && !node.recovering() && !bound(node, now))
        node.reserve.want(node.changes.shown);
}

}  // namespace bullring::protocol
