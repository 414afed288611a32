// Owns: the description of a cluster's list of members that the library gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bullring {

struct ListedMember {
    std::uint64_t id = 0;
    std::string address;  // "HOST:PORT"; empty: the list does not say
    bool votes = true;
    bool operator==(const ListedMember&) const = default;
};

struct MemberList {
    /// "EPOCH.VERSION": it rises with each change; "0.0" is the list that the cluster began with.
    /// Empty: no list is known.
    std::string tag;
    std::vector<ListedMember> members;  // in ascending order of ids
    /// Why there is none.
    std::string why;
    bool operator==(const MemberList&) const = default;
};

}  // namespace bullring
