#include "src/node/report/refusal_text.hpp"

#include <charconv>

#include <fmt/format.h>

#include "protocol/values/names.hpp"

namespace bullring {

namespace {

using protocol::Difference;
using protocol::HandshakeRefused;
using protocol::NodeId;

const std::string& here(const HandshakeRefused& refusal) {
    return refusal.by_us ? refusal.difference.mine : refusal.difference.yours;
}
const std::string& there(const HandshakeRefused& refusal) {
    return refusal.by_us ? refusal.difference.yours : refusal.difference.mine;
}

bool is_twin(const HandshakeRefused& refusal, NodeId self) {
    return protocol::is_twin_refusal(refusal.difference, refusal.by_us ? refusal.peer : self);
}

/// It was removed, or is still to be added.
std::string why_no_member(const HandshakeRefused& refusal) {
    const std::string& members = refusal.difference.mine;
    if (members.empty())
        return std::string(refusal.by_us ? "this node" : "it") + " waits for being added itself";
    return fmt::format("{} is not one of the members {}", refusal.by_us ? "it" : "this node",
                       members);
}

/// From which this node knows whom it dials.
std::string addresses(const WayToStart& way) {
    const char* const given = way.joins ? "the addresses of --join" : "the addresses in --peers";
    return way.had_state ? fmt::format("{} and in the list (bullring member address)", given)
                         : given;
}

/// Of "3-4".
int highest_of(const std::string& versions) {
    int highest = 0;
    const std::size_t dash = versions.find('-');
    const char* const begin = versions.data() + (dash == std::string::npos ? 0 : dash + 1);
    std::from_chars(begin, versions.data() + versions.size(), highest);
    return highest;
}

std::string version_remedy(const HandshakeRefused& refusal, const WayToStart& way) {
    if (highest_of(here(refusal)) > highest_of(there(refusal)))
        return fmt::format("take --wire from node {}, or upgrade it (bullring help upgrade)",
                           refusal.peer.value);
    if (way.wire_highest == protocol::version_highest)
        return "upgrade this node (bullring help upgrade)";
    return fmt::format("take --wire {} from this node{}", way.wire_highest,
                       way.wire_highest < protocol::version_with_tags
                           ? fmt::format(": a list of members that was changed needs {}",
                                         protocol::version_with_tags)
                           : "");
}

std::string same_flag(const char* flag, const WayToStart& way) {
    return way.joins ? fmt::format("give this node the --{} of the others", flag)
                     : fmt::format("give all members the same --{}", flag);
}

/// Of two clusters by one name.
std::string cluster_remedy(const WayToStart& way) {
    if (way.had_state)
        return "if this node's directory is another cluster's, or an old copy, end it, delete the "
               "directory, and start it again; else correct " +
               addresses(way);
    if (way.joins) return "correct " + addresses(way) + ", which are of two clusters";
    return "if one was founded beside the other by mistake, end its nodes, delete their "
           "directories, and start them again; else correct " +
           addresses(way);
}

std::string members_remedy(const WayToStart& way) {
    if (way.had_state)
        return "the lists in the state files hold, whatever --peers has: if this node's directory "
               "is another cluster's, or an old copy, end it, delete the directory, and start it "
               "again";
    if (way.joins) return "give all who found the cluster the same --peers";
    return "give all members the same --peers";
}

std::string member_remedy(const HandshakeRefused& refusal, NodeId self, const WayToStart& way) {
    if (refusal.difference.mine.empty()) return "";
    if (refusal.by_us)
        return fmt::format("have it added (bullring member add {}=HOST:PORT), or end it",
                           refusal.peer.value);
    if (way.joins) return "";  // that is what it asks for; a removal is told apart
    return fmt::format(
        "have it added (bullring member add {}=HOST:PORT), or, if it was removed, "
        "end it",
        self.value);
}

std::string twin_remedy(const HandshakeRefused& refusal, NodeId self, const WayToStart& way) {
    const NodeId id = refusal.by_us ? refusal.peer : self;
    return fmt::format(
        "end one of the two, or give it an --id of its own{}",
        way.had_state
            ? fmt::format(" and an empty directory, if that of node {} was copied", id.value)
            : "");
}

std::string id_remedy(const HandshakeRefused& refusal, NodeId self, const WayToStart& way) {
    if (is_twin(refusal, self)) return twin_remedy(refusal, self, way);
    if (says_the_same(refusal.difference, protocol::own_id_refusal(self)))
        return "give each node an --id of its own; if this node has dialled itself, correct " +
               addresses(way);
    const bool is_other =
        !refusal.by_us && refusal.difference.yours == std::to_string(refusal.peer.value);
    if (is_other) return "correct " + addresses(way);
    if (refusal.by_us)
        return fmt::format("correct the --id of node {}, or give all members the same --peers",
                           refusal.peer.value);
    if (way.joins) return "";  // it is about to be added
    return "correct --id, or give all members the same --peers";
}

/// The dialler, this node, comes from an address that is no member's there.
std::string address_remedy(const HandshakeRefused& refusal, const WayToStart& way) {
    const std::string log = fmt::format("the log of node {} says why", refusal.peer.value);
    if (way.says_where) return log + "; is --join-as where this node calls from?";
    if (way.joins) return log + "; behind NAT give --join-as HOST:PORT";
    return log + (way.had_state ? "; does the list have this node at that address?"
                                : "; does --peers there have this node at that address?");
}

}  // namespace

WayToStart way_to_start(const NodeOptions& options, bool had_state) {
    return {!options.join.empty(), options.join_as.port != 0, had_state,
            options.config.wire_highest};
}

std::string why_refused(const HandshakeRefused& refusal, NodeId self) {
    const protocol::Refused& what = refusal.difference;
    if (is_twin(refusal, self)) return what.mine;
    if (says_the_same(what, protocol::own_id_refusal(self)))
        return refusal.by_us ? "it has this node's own id" : "a node with this one's id is there";
    if (differs_in(what, Difference::member)) return why_no_member(refusal);
    if (differs_in(what, Difference::address) && !refusal.by_us)
        return fmt::format("this node comes from {}, which is not a member's address there",
                           what.yours);
    return fmt::format("{} is '{}' here and '{}' there", what.field, here(refusal), there(refusal));
}

std::string remedy(const HandshakeRefused& refusal, NodeId self, const WayToStart& way) {
    const auto what = protocol::named<Difference>(refusal.difference.field);
    if (!what) return "upgrade the older of the two (bullring help upgrade)";
    switch (*what) {
        case Difference::version: return version_remedy(refusal, way);
        case Difference::cluster: return "correct --cluster, or " + addresses(way);
        case Difference::founders:
        case Difference::cluster_id: return cluster_remedy(way);
        case Difference::quorum: return same_flag("quorum", way);
        case Difference::algorithm: return same_flag("algorithm", way);
        case Difference::rho:
            return "have all members run the same build: they count on the same error of clocks";
        case Difference::members: return members_remedy(way);
        case Difference::member: return member_remedy(refusal, self, way);
        case Difference::id: return id_remedy(refusal, self, way);
        case Difference::session: return "";  // the dialler takes the next one
        case Difference::address: return address_remedy(refusal, way);
    }
    return "";
}

std::string refusal_text(const HandshakeRefused& refusal, NodeId self, const WayToStart& way) {
    const std::string what_to_do = remedy(refusal, self, way);
    return why_refused(refusal, self) + (what_to_do.empty() ? "" : "; " + what_to_do);
}

}  // namespace bullring
