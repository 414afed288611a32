// Quorum none (PROTOCOL §10): the algorithms as they stand in the textbooks, without a majority, a
// promise or a lease. A leader is who says so, and the highest that is heard is believed. It is for
// those who want to see what goes wrong then; nothing here is fenced.
#pragma once

#include <tuple>

#include "protocol/member/member.hpp"

namespace bullring::protocol {

class Textbook final : public Member {
public:
    Textbook(const Config& config, const Start& start) : Member(config, start) {}

    bool is_majority(MemberSet members) const override { return !members.empty(); }
    LeaderView first_hand(Instant now) const override;
    /// Only a leader's own word counts. This node may never hear it, and would ask again as fast as
    /// the network lets it.
    void adopt_view(Step& step, Index /*from*/, const LeaderView& /*view*/) override {
        retry_not_before(step.now + timing().coordinator_wait);
    }
    Duration view_left(Instant /*now*/, const LeaderView& /*view*/) const override {
        return timing().suspect_after;
    }
    Instant lease_end() const override { return tenure_.follows() ? long_ago : never; }
    std::optional<AddressedRequest> campaign(Step& step) override;
    std::optional<Vote> on_request(Step& step, const LeaseRequest& request) override;
    void on_coordinator(Step& step, const AcceptedSession& from,
                        const Coordinator& request) override;
    void collect_wakes(WakeTime& wake) const override;

    bool operator==(const Textbook&) const = default;
    auto digest_fields() const { return std::tie(static_cast<const Member&>(*this)); }

private:
    void advance_engine(Step& step) override;
    bool others_awaited(Instant now) const override;
    MemberSet grants(Instant now) const override;
    LeaderView told_to_peers(Instant now) const override;
    void greet(Step& step, Index i) override;
    std::string why_leading(Instant now) const override;

    Coordinator announcement(Instant now) const;
    void note_announcement(Instant now, Index leader, Epoch epoch);
};

}  // namespace bullring::protocol
