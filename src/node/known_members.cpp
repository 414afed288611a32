#include "src/node/known_members.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/base/os/tcp.hpp"
#include "src/base/text/endpoint.hpp"
#include "src/settings/survival_note.hpp"

namespace bullring {

using protocol::MemberEntry;
using protocol::Membership;

namespace {

std::string ids_of(const Membership& members) {
    std::string text;
    for (const MemberEntry& member : members.entries())
        text += (text.empty() ? "" : ", ") + std::to_string(member.id.value);
    return text;
}

/// Nobody has changed it yet, so it has no address that `--peers` did not give.
Membership with_addresses_of(const PeerList& peers, const Membership& founders) {
    std::vector<MemberEntry> entries = founders.entries();
    for (MemberEntry& member : entries)
        if (const auto given = peers.find(member.id); given != peers.end())
            member.address = to_text(given->second);
    return Membership::of_founders(std::move(entries));
}

}  // namespace

std::string take_members(const Membership& file, NodeOptions& options) {
    const PeerList given = std::exchange(options.peers, {});
    std::vector<std::string> differences;
    const Membership founders = options.config.members;
    if (options.join.empty() && founders.ids() != file.ids()) {
        std::erase(options.start_notes, survival_note(founders));
        if (std::string note = survival_note(file); !note.empty())
            options.start_notes.push_back(std::move(note));
        differences.push_back(fmt::format(
            "peers has the members {}, and the list in the state file holds, which has {}; how to "
            "change it says bullring help member",
            ids_of(founders), ids_of(file)));
    }
    // Where it listens is its own affair, whatever the list has.
    if (const auto own = given.find(options.config.self); own != given.end())
        options.peers.emplace(*own);
    const Membership members = file.changed() ? file : with_addresses_of(given, file);
    for (const MemberEntry& member : members.entries()) {
        const auto by_user = given.find(member.id);
        if (by_user != given.end()) {
            options.peers.emplace(*by_user);
            // Its own address a node that joins has put right by itself.
            const bool joins = !options.join.empty();
            if (!joins && !member.address.empty() && member.address != to_text(by_user->second))
                differences.push_back(
                    fmt::format("member {} is dialled at {}, as peers has it, and not at {}",
                                member.id.value, to_text(by_user->second), member.address));
        } else if (const auto endpoint = parse_endpoint(member.address)) {
            options.peers.emplace(member.id, *endpoint);
        } else {
            differences.push_back(
                fmt::format("member {} has no address, neither in the state file nor in peers",
                            member.id.value));
        }
    }
    options.config.members = members;
    std::string text;
    for (const std::string& difference : differences)
        text += (text.empty() ? "" : "; ") + difference;
    return text;
}

std::string said_address(const NodeOptions& options) {
    const Endpoint& own = options.peers.at(options.config.self);
    const bool as_seen =
        is_unspecified(own.host) || is_loopback(own.host) || tcp::numeric_addresses(own).empty();
    return as_seen ? ":" + std::to_string(own.port) : to_text(own);
}

std::string DialledMembers::follow(const Membership& list,
                                   const std::function<bool(protocol::NodeId)>& connected) {
    PeerList peers;
    std::string without;
    for (const MemberEntry& member : list.entries()) {
        const auto known = peers_.find(member.id);
        const MemberEntry* const before = members_.find(member.id);
        const bool is_news = members_.changed()
                                 ? before == nullptr || before->address != member.address
                                 : list.changed() && !connected(member.id);
        const auto listed = parse_endpoint(member.address);
        if (listed && member.id != self_ && (known == peers_.end() || is_news)) {
            peers.emplace(member.id, *listed);
        } else if (known != peers_.end()) {
            peers.emplace(*known);
        } else {
            without += (without.empty() ? "" : ", ") + std::to_string(member.id.value);
        }
    }
    // Where it listens is its own affair, also when it is removed.
    if (const auto own = peers_.find(self_); own != peers_.end()) peers.insert(*own);
    peers_ = std::move(peers);
    members_ = list;
    return without.empty() ? "" : "no address is known of the members " + without;
}

}  // namespace bullring
