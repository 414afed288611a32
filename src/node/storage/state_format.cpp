// The bytes of the state file. The CRC is checked before anything is believed.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "src/node/storage/state_file.hpp"

namespace bullring {

using protocol::Durable;
using protocol::Identity;
using protocol::MemberEntry;
using protocol::Membership;
using protocol::NodeId;
using protocol::Tag;

namespace {

constexpr std::string_view magic = "BULLRING";
constexpr std::uint32_t format_version = 2;
/// Without `hooks`. Since format 2 a later version may add fields at the end, which an earlier one
/// leaves out. So the list of members stands there, and in the middle the ids of the members, which
/// is all that the earlier one knows of it.
constexpr std::uint32_t format_without_hooks = 1;

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) * 0xEDB8'8320U);
        table[i] = crc;
    }
    return table;
}();

/// CRC-32 of IEEE 802.3.
std::uint32_t crc32(const std::byte* bytes, std::size_t count) {
    std::uint32_t crc = 0xFFFF'FFFFU;
    for (std::size_t i = 0; i < count; ++i) {
        crc = (crc >> 8U) ^ crc_table[(crc ^ std::to_integer<std::uint32_t>(bytes[i])) & 0xFFU];
    }
    return ~crc;
}

void put(std::vector<std::byte>& out, std::uint64_t value, std::size_t size) {
    for (std::size_t i = size; i-- > 0;) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put(std::vector<std::byte>& out, std::string_view text) {
    for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

/// Reads what `put` wrote; after too short an input everything is zero and `ok` false.
class FieldReader {
public:
    FieldReader(const std::vector<std::byte>& bytes, std::size_t end) : bytes_(bytes), end_(end) {}

    std::uint64_t number(std::size_t size) {
        if (end_ - at_ < size) {
            ok_ = false;
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i) {
            value = value << 8U | std::to_integer<std::uint64_t>(bytes_[at_++]);
        }
        return value;
    }
    std::string text(std::size_t size) {
        if (end_ - at_ < size) {
            ok_ = false;
            return "";
        }
        std::string result;
        for (std::size_t i = 0; i < size; ++i) {
            result += static_cast<char>(std::to_integer<unsigned char>(bytes_[at_++]));
        }
        return result;
    }
    bool ok() const { return ok_; }
    bool complete() const { return ok_ && at_ == end_; }
    bool more() const { return ok_ && at_ != end_; }

private:
    const std::vector<std::byte>& bytes_;
    std::size_t end_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

void put_ids(std::vector<std::byte>& out, const std::vector<NodeId>& ids) {
    put(out, ids.size(), 4);
    for (const NodeId id : ids) put(out, id.value, 8);
}

std::vector<NodeId> read_ids(FieldReader& reader) {
    std::vector<NodeId> ids;
    for (std::uint64_t left = reader.number(4); left > 0 && reader.ok(); --left)
        ids.push_back({reader.number(8)});
    return ids;
}

void put_list(std::vector<std::byte>& out, const Membership& members) {
    const Tag tag = members.tag().value_or(Tag{});
    put(out, tag.epoch.value, 8);
    put(out, tag.version, 4);
    put(out, members.size(), 4);
    for (const MemberEntry& member : members.entries()) {
        put(out, member.id.value, 8);
        put(out, member.slot, 1);
        put(out, member.votes ? 1 : 0, 1);
        put(out, member.address.size(), 2);
        put(out, member.address);
    }
    put_ids(out, members.founders());
}

void put_identity(std::vector<std::byte>& out, const Identity& identity) {
    put(out, identity.id.value, 8);
    put(out, identity.epoch.value, 8);
    put(out, identity.settled ? 1 : 0, 1);
}

Identity read_identity(FieldReader& reader) {
    Identity identity;
    identity.id.value = reader.number(8);
    identity.epoch.value = reader.number(8);
    identity.settled = reader.number(1) != 0;
    return identity;
}

void put_directories(std::vector<std::byte>& out, const Durable& durable) {
    put(out, durable.directory.value, 8);
    put(out, durable.met.size(), 4);
    for (const protocol::MetDirectory& one : durable.met) {
        put(out, one.member.value, 8);
        put(out, one.address.size(), 2);
        put(out, one.address);
        put(out, one.directory.value, 8);
    }
}

void read_directories(FieldReader& reader, Durable& durable) {
    durable.directory.value = reader.number(8);
    for (std::uint64_t left = reader.number(4); left > 0 && reader.ok(); --left) {
        protocol::MetDirectory& one = durable.met.emplace_back();
        one.member.value = reader.number(8);
        one.address = reader.text(reader.number(2));
        one.directory.value = reader.number(8);
    }
}

/// nullopt: it is no list.
std::optional<Membership> read_list(FieldReader& reader) {
    Tag tag;
    tag.epoch.value = reader.number(8);
    tag.version = static_cast<std::uint32_t>(reader.number(4));
    std::vector<MemberEntry> entries;
    for (std::uint64_t left = reader.number(4); left > 0 && reader.ok(); --left) {
        MemberEntry& member = entries.emplace_back();
        member.id.value = reader.number(8);
        member.slot = static_cast<protocol::Index>(reader.number(1));
        member.votes = reader.number(1) != 0;
        member.address = reader.text(reader.number(2));
    }
    std::vector<NodeId> founders = read_ids(reader);
    if (!reader.ok() || !Membership::is_possible(tag, entries, founders)) return std::nullopt;
    return Membership(tag, std::move(entries), std::move(founders));
}

}  // namespace

std::vector<std::byte> encode_state(const StateIdentity& identity, const Durable& durable) {
    std::vector<std::byte> out;
    put(out, magic);
    put(out, format_version, 4);
    put(out, identity.cluster.size(), 4);
    put(out, identity.cluster);
    put_ids(out, durable.members.ids());
    put(out, identity.self.value, 8);
    put(out, durable.hw.value, 8);
    put(out, static_cast<std::uint64_t>(durable.promised_max.ns), 8);
    put(out, durable.hooks ? 1 : 0, 1);
    put_list(out, durable.members);
    put_identity(out, durable.identity);
    put_directories(out, durable);
    put(out, crc32(out.data(), out.size()), 4);
    return out;
}

tl::expected<Durable, std::string> decode_state(const StateIdentity& identity,
                                                const std::vector<std::byte>& bytes) {
    constexpr std::size_t crc_bytes = 4;
    if (bytes.size() < magic.size() + crc_bytes) {
        return tl::unexpected(fmt::format("is damaged: {} bytes are too few", bytes.size()));
    }
    const std::size_t end = bytes.size() - crc_bytes;
    FieldReader reader(bytes, end);
    if (reader.text(magic.size()) != magic)
        return tl::unexpected(std::string("is not a state file of bullring"));
    std::uint32_t crc = 0;
    for (std::size_t i = end; i < bytes.size(); ++i) {
        crc = crc << 8U | std::to_integer<std::uint32_t>(bytes[i]);
    }
    if (crc != crc32(bytes.data(), end))
        return tl::unexpected(std::string("is damaged: its checksum is wrong"));
    const auto version = static_cast<std::uint32_t>(reader.number(4));
    if (version != format_version && version != format_without_hooks) {
        return tl::unexpected(fmt::format("has format {}, and this program knows {} and {} only",
                                          version, format_without_hooks, format_version));
    }
    const std::string cluster = reader.text(reader.number(4));
    const std::vector<NodeId> ids = read_ids(reader);
    const NodeId self{reader.number(8)};
    Durable durable;
    durable.hw.value = reader.number(8);
    durable.promised_max.ns = static_cast<std::int64_t>(reader.number(8));
    // A version that does not record hooks may have had some.
    durable.hooks = version == format_without_hooks || reader.number(1) != 0;
    const bool fits = version == format_without_hooks ? reader.complete() : reader.ok();
    // Of an earlier version, whose members never changed.
    std::optional<Membership> members;
    if (fits && reader.more())
        members = read_list(reader);
    else if (fits && Membership::is_possible(ids))
        members = Membership(ids);
    // Of a version that knew of none.
    if (reader.more()) durable.identity = read_identity(reader);
    if (reader.more()) read_directories(reader, durable);
    if (!members || !reader.ok() || durable.promised_max.ns < 0) {
        return tl::unexpected(std::string("is damaged: its fields do not fit"));
    }
    durable.members = *members;
    if (cluster != identity.cluster) {
        return tl::unexpected(
            fmt::format("belongs to cluster '{}', not to '{}'", cluster, identity.cluster));
    }
    if (self != identity.self) {
        return tl::unexpected(
            fmt::format("belongs to node {}, not to {}", self.value, identity.self.value));
    }
    return durable;
}

}  // namespace bullring
