#include "protocol/values/member_change.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/values/names.hpp"

namespace bullring::protocol {

namespace {

std::optional<Index> free_slot(const Membership& list) {
    for (std::size_t k = 0; k < members_max; ++k) {
        const auto slot = static_cast<Index>((list.places() + k) % members_max);
        if (!list.all().contains(slot)) return slot;
    }
    return std::nullopt;
}

}  // namespace

const char* name(MemberChange::What what) {
    switch (what) {
        case MemberChange::What::add: return "add";
        case MemberChange::What::remove: return "remove";
        case MemberChange::What::promote: return "promote";
        case MemberChange::What::demote: return "demote";
        case MemberChange::What::address: return "address";
    }
    return no_name;
}

std::optional<Membership> with(const Membership& list, const MemberChange& change, Tag tag) {
    std::vector<MemberEntry> entries = list.entries();
    const auto at = std::find_if(entries.begin(), entries.end(),
                                 [&](const MemberEntry& entry) { return entry.id == change.id; });
    if (change.what == MemberChange::What::add) {
        const auto slot = free_slot(list);
        if (at != entries.end() || !slot) return std::nullopt;
        entries.push_back({change.id, *slot, false, change.address});
        return Membership(tag, std::move(entries), list.founders());
    }
    if (at == entries.end()) return std::nullopt;
    switch (change.what) {
        case MemberChange::What::add: break;
        case MemberChange::What::remove: entries.erase(at); break;
        case MemberChange::What::promote: at->votes = true; break;
        case MemberChange::What::demote: at->votes = false; break;
        case MemberChange::What::address:
            // C13.2: two members never have one.
            for (MemberEntry& other : entries)
                if (other.address == change.address) other.address = at->address;
            at->address = change.address;
            break;
    }
    const bool somebody_votes = std::any_of(entries.begin(), entries.end(),
                                            [](const MemberEntry& member) { return member.votes; });
    if (!somebody_votes) return std::nullopt;
    return Membership(tag, std::move(entries), list.founders());
}

bool is_so_already(const Membership& list, const MemberChange& change) {
    const MemberEntry* const member = list.find(change.id);
    switch (change.what) {
        case MemberChange::What::add: return member != nullptr && member->address == change.address;
        case MemberChange::What::address:
            // In a list that nobody has changed they are what each node was started with.
            return list.changed() && member != nullptr && member->address == change.address;
        case MemberChange::What::remove: return member == nullptr;
        case MemberChange::What::promote: return member != nullptr && member->votes;
        case MemberChange::What::demote: return member != nullptr && !member->votes;
    }
    return false;
}

Membership retagged(const Membership& list, Tag tag) {
    return {tag, list.entries(), list.founders()};
}

Membership joined(const Membership& older, const Membership& newer) {
    std::vector<MemberEntry> entries = newer.entries();
    for (const MemberEntry& member : older.entries())
        if (newer.find(member.id) == nullptr && !newer.all().contains(member.slot))
            entries.push_back(member);
    if (entries.size() == newer.size()) return newer;
    return {newer.tag().value_or(Tag{}), std::move(entries), newer.founders()};
}

Membership with_self(const Membership& list, NodeId self) {
    if (list.find(self) != nullptr) return list;
    std::vector<MemberEntry> entries = list.entries();
    auto slot = free_slot(list);
    if (!slot) {
        // Of 64 others one is not spoken to; that no list has this node is known all the same.
        slot = entries.back().slot;
        entries.pop_back();
    }
    entries.push_back({self, *slot, entries.empty(), {}});
    return {list.tag().value_or(Tag{}), std::move(entries), list.founders()};
}

}  // namespace bullring::protocol
