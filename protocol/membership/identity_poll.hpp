// The holder's side of the cluster's id (PROTOCOL C11): what voters have on their disks, as they
// have told this leadership, and the id that it gives them.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "protocol/values/identity.hpp"
#include "protocol/values/membership.hpp"

namespace bullring::protocol {

class IdentityPoll {
public:
    IdentityPoll() = default;
    /// A leadership begins: nobody has told anything yet.
    explicit IdentityPoll(Epoch epoch) : epoch_(epoch) {}

    Epoch epoch() const { return epoch_; }
    /// That is on the disk of a member.
    void note(NodeId member, const Identity& has);
    bool has_told(NodeId member) const;
    bool majority_has_told(const Membership& base) const;
    /// Of all that were told the one of the highest rank. nullopt: they are of two clusters.
    std::optional<Identity> newest() const;
    /// All are told that by the next renewals; no id: they are asked.
    const Identity& given() const { return given_; }
    void give(ClusterId id) { given_ = {id, epoch_, false}; }
    /// A majority of `base` has the given one on its disks.
    bool held_by_majority(const Membership& base) const;
    void settle() { given_.settled = true; }

    bool operator==(const IdentityPoll&) const = default;
    auto digest_fields() const { return std::tie(epoch_, told_, given_); }

private:
    struct Told {
        NodeId member;
        Identity has;
        bool operator==(const Told&) const = default;
    };
    /// Those of `base` of whom this is true.
    template <class Condition>
    MemberSet members_of(const Membership& base, Condition condition) const {
        MemberSet found;
        for (const Told& one : told_)
            if (const auto i = base.index(one.member); i && condition(one.has)) found.insert(*i);
        return found;
    }

    Epoch epoch_;
    std::vector<Told> told_;
    Identity given_;
};

}  // namespace bullring::protocol
