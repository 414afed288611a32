// The Ring algorithm (Chang and Roberts 1979) as the selector of PROTOCOL §8: an election token
// walks the ring of connected nodes, a better node swallows it, and who sees his own come back
// stands; his lease request walks the ring as the coordinator token. It decides nothing about
// safety.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "protocol/selectors/member_access.hpp"
#include "protocol/selectors/ring_hops.hpp"

namespace bullring::protocol {

class Ring {
public:
    static constexpr Algorithm algorithm = Algorithm::ring;

    explicit Ring(const Config& config)
        : plain_(config.quorum == QuorumMode::none),
          hops_(plain_ ? RingHops::Acknowledged::no : RingHops::Acknowledged::yes) {}

    void on_message(MemberAccess& member, Step& step, Index from, const Token& token);
    void on_message(MemberAccess& member, Step& step, Index from, const CoordinatorToken& token);
    void on_message(MemberAccess& member, Step& step, Index from, const TokenAck& ack);
    /// Timers and conditions, after every event.
    void advance(MemberAccess& member, Step& step);
    /// Carries a lease request to the voters: round the ring, or directly for renewals.
    void carry(MemberAccess& member, Step& step, const AddressedRequest& asked);
    void collect_wakes(WakeTime& wake) const;
    bool operator==(const Ring&) const = default;
    auto digest_fields() const {
        return std::tie(round_, own_round_, own_request_round_, round_until_, able_after_, seen_,
                        parked_, held_, disk_is_slow_, hops_);
    }

private:
    /// The newest token of one run's rounds that was accepted here; older ones are duplicates. Not
    /// for ever: a forged round would shut out all that its owner begins.
    struct Seen {
        Incarnation incarnation;
        std::uint64_t round = 0;
        std::uint32_t step = 0;
        Instant at = long_ago;
        bool operator==(const Seen&) const = default;
    };
    /// The last two runs of one member. Nothing shows which of the two is the newer one, and tokens
    /// of both may be under way.
    struct SeenRuns {
        Seen latest;
        Seen before;
        /// The entry of this run, or the one that gives way to it.
        Seen& of(Incarnation run);
        bool operator==(const SeenRuns&) const = default;
    };
    template <class AToken>
    struct Kept {
        AToken token;
        Instant until;
        bool operator==(const Kept&) const = default;
    };

    bool accept(MemberAccess& member, Step& step, Index from, const Walk& walk);
    bool is_over(const MemberAccess& member, const AnyToken& token) const;
    /// T2.1
    bool able(Instant now) const { return due(now, able_after_); }
    void start(MemberAccess& member, Step& step, const char* reason);
    void stand(MemberAccess& member, Step& step);
    void own_token_back(MemberAccess& member, Step& step, const Token& token);
    void own_request_back(MemberAccess& member, Step& step, CoordinatorToken token);
    void own_request_onward(MemberAccess& member, Step& step, CoordinatorToken token);
    void pass_or_swallow(MemberAccess& member, Step& step, Token token);
    /// `hold_until`: how long a busy voter may keep the token before it refuses.
    void vote_and_pass(MemberAccess& member, Step& step, CoordinatorToken token,
                       Instant hold_until);
    void round_failed(MemberAccess& member, Step& step, Duration wait);

    /// The textbook's circle (§10): no acknowledgements, announcements instead of requests.
    bool plain_ = false;
    std::uint64_t round_ = 0;              // of this incarnation; every token of its own has one
    std::uint64_t own_round_ = 0;          // the election round under way; 0: none
    std::uint64_t own_request_round_ = 0;  // the coordinator token under way
    Instant round_until_ = never;          // T_ring
    Instant able_after_ = long_ago;
    std::vector<SeenRuns> seen_;         // by owner
    std::optional<Kept<Token>> parked_;  // the best token, while a leader is known first-hand
    std::optional<Kept<CoordinatorToken>> held_;  // by a voter that is busy, or waits for its disk
    bool disk_is_slow_ = false;  // a request was held for the disk in vain, and none granted since
    RingHops hops_;
};

}  // namespace bullring::protocol
