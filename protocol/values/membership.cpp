#include "protocol/values/membership.hpp"

#include <algorithm>
#include <utility>

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

namespace {

std::vector<MemberEntry> founders(std::vector<NodeId> ids) {
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

std::string to_text(const Tag& tag) {
    return std::to_string(tag.epoch.value) + "." + std::to_string(tag.version);
}

std::string ids_text(const Membership& list) {
    std::string voters;
    std::string others;
    for (const MemberEntry& member : list.entries()) {
        std::string& text = member.votes ? voters : others;
        text += (text.empty() ? "" : ",") + std::to_string(member.id.value);
    }
    return others.empty() ? voters : voters + "+" + others;
}

constexpr Membership::Data Membership::nothing{};

Membership::Membership(std::vector<NodeId> ids) : Membership(Tag{}, founders(std::move(ids))) {}

Membership::Membership(Tag tag, std::vector<MemberEntry> entries) {
    std::sort(entries.begin(), entries.end(),
              [](const MemberEntry& a, const MemberEntry& b) { return a.id < b.id; });
    Data data{tag, std::move(entries), {}, {}, {}};
    for (const MemberEntry& entry : data.entries) {
        BULLRING_ASSERT(entry.slot < members_max);
        if (data.ids.size() <= entry.slot) data.ids.resize(std::size_t{entry.slot} + 1);
        data.ids[entry.slot] = entry.id;
        data.all.insert(entry.slot);
        if (entry.votes) data.voters.insert(entry.slot);
    }
    data_ = std::make_shared<const Data>(std::move(data));
}

bool Membership::is_possible(const std::vector<MemberEntry>& entries) {
    if (entries.empty() || entries.size() > members_max) return false;
    MemberSet slots;
    std::vector<NodeId> ids;
    bool somebody_votes = false;
    for (const MemberEntry& entry : entries) {
        if (!entry.id || entry.slot >= members_max || slots.contains(entry.slot)) return false;
        slots.insert(entry.slot);
        ids.push_back(entry.id);
        somebody_votes = somebody_votes || entry.votes;
    }
    std::sort(ids.begin(), ids.end());
    return somebody_votes && std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

std::vector<NodeId> Membership::ids() const {
    std::vector<NodeId> ids;
    ids.reserve(size());
    for (const MemberEntry& entry : entries()) ids.push_back(entry.id);
    return ids;
}

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
