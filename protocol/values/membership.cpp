#include "protocol/values/membership.hpp"

#include <algorithm>
#include <utility>

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

namespace {

std::vector<MemberEntry> entries_of(std::vector<NodeId> ids) {
    std::sort(ids.begin(), ids.end());
    std::vector<MemberEntry> entries;
    entries.reserve(ids.size());
    for (const NodeId id : ids)
        entries.push_back({id, static_cast<Index>(entries.size()), true, {}});
    return entries;
}

auto at_or_after(const std::vector<MemberEntry>& entries, NodeId id) {
    return std::lower_bound(entries.begin(), entries.end(), id,
                            [](const MemberEntry& entry, NodeId of) { return entry.id < of; });
}

}  // namespace

std::vector<NodeId> ids_of(const std::vector<MemberEntry>& entries) {
    std::vector<NodeId> ids;
    ids.reserve(entries.size());
    for (const MemberEntry& entry : entries) ids.push_back(entry.id);
    std::sort(ids.begin(), ids.end());
    return ids;
}

std::string to_text(const Tag& tag) {
    return std::to_string(tag.epoch.value) + "." + std::to_string(tag.version);
}

std::string ids_text(const std::vector<NodeId>& ids) {
    std::string text;
    for (const NodeId id : ids) text += (text.empty() ? "" : ",") + std::to_string(id.value);
    return text;
}

std::string ids_text(const Membership& list) {
    std::vector<NodeId> voters;
    std::vector<NodeId> others;
    for (const MemberEntry& member : list.entries())
        (member.votes ? voters : others).push_back(member.id);
    return ids_text(voters) + (others.empty() ? "" : "+" + ids_text(others));
}

constexpr Membership::Data Membership::nothing{};

Membership::Membership(std::vector<NodeId> ids)
    : Membership(of_founders(entries_of(std::move(ids)))) {}

Membership Membership::of_founders(std::vector<MemberEntry> entries) {
    std::vector<NodeId> founders = ids_of(entries);
    return {Tag{}, std::move(entries), std::move(founders)};
}

Membership::Membership(Tag tag, std::vector<MemberEntry> entries, std::vector<NodeId> founders) {
    std::sort(entries.begin(), entries.end(),
              [](const MemberEntry& a, const MemberEntry& b) { return a.id < b.id; });
    Data data{tag, std::move(entries), std::move(founders), {}, {}, {}};
    for (const MemberEntry& entry : data.entries) {
        BULLRING_ASSERT(entry.slot < members_max);
        if (data.ids.size() <= entry.slot) data.ids.resize(std::size_t{entry.slot} + 1);
        data.ids[entry.slot] = entry.id;
        data.all.insert(entry.slot);
        if (entry.votes) data.voters.insert(entry.slot);
    }
    data_ = std::make_shared<const Data>(std::move(data));
}

bool Membership::is_possible(const std::vector<NodeId>& founders) {
    const auto descends = [](NodeId a, NodeId b) { return a >= b; };
    return !founders.empty() && founders.size() <= members_max && founders.front() &&
           std::adjacent_find(founders.begin(), founders.end(), descends) == founders.end();
}

bool Membership::is_possible(const Tag& tag, const std::vector<MemberEntry>& entries,
                             const std::vector<NodeId>& founders) {
    if (entries.size() > members_max) return false;
    MemberSet slots;
    bool somebody_votes = false;
    for (const MemberEntry& entry : entries) {
        if (entry.slot >= members_max || slots.contains(entry.slot)) return false;
        slots.insert(entry.slot);
        somebody_votes = somebody_votes || entry.votes;
    }
    const std::vector<NodeId> ids = ids_of(entries);
    return somebody_votes && is_possible(ids) && is_possible(founders) &&
           (tag != Tag{} || ids == founders);
}

std::vector<NodeId> Membership::ids() const { return ids_of(entries()); }

const MemberEntry* Membership::find(NodeId id) const {
    const auto at = at_or_after(entries(), id);
    return at == entries().end() || at->id != id ? nullptr : &*at;
}

std::optional<Index> Membership::index(NodeId id) const {
    const MemberEntry* const entry = find(id);
    return entry == nullptr ? std::nullopt : std::optional(entry->slot);
}

Index Membership::ring_next(Index from, std::size_t steps) const {
    const auto at = at_or_after(entries(), id(from)) - entries().begin();
    return entries()[(static_cast<std::size_t>(at) + steps) % size()].slot;
}

}  // namespace bullring::protocol
