// How a token gets from one node to the next (PROTOCOL §8): the walk's rule for the next hop, and
// the hops that have not been acknowledged yet, to be sent elsewhere when they fail.
#pragma once

#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "protocol/selectors/member_access.hpp"

namespace bullring::protocol {

using AnyToken = std::variant<Token, CoordinatorToken>;

Walk& walk_of(AnyToken& token);
const Walk& walk_of(const AnyToken& token);

/// The next connected member in ring order that the token has not visited and that has a vote or,
/// while it looks for the highest, outranks its owner; else its owner; else back along the path.
/// `skipped`: members to which this very hop has failed. nullopt: nobody.
std::optional<Index> next_hop(const MemberAccess& member, Instant now, const AnyToken& token,
                              MemberSet skipped);

/// Adds this node to the walk, or cuts the path back to it when it has been here before.
void visit(Walk& walk, Index here);

class RingHops {
public:
    enum class Acknowledged : std::uint8_t { no, yes };
    explicit RingHops(Acknowledged acknowledged) : acknowledged_(acknowledged) {}

    /// More hops than this are under way only if tokens run wild; the oldest is then forgotten.
    static constexpr std::size_t under_way_max = 128;

    /// Sends the token to the next hop. False: there is nobody to send it to.
    bool forward(MemberAccess& member, Step& step, AnyToken token, MemberSet skipped = {});
    /// Sends it straight to `to` (home), and by the walk's rule if that fails.
    bool send_to(MemberAccess& member, Step& step, Index to, AnyToken token,
                 MemberSet skipped = {});
    void on_ack(Index from, const TokenAck& ack);
    /// Hops of these tokens are not made again.
    template <class Predicate>
    void forget(Predicate&& is_over) {
        std::erase_if(under_way_, [&](const Hop& hop) { return is_over(hop.token); });
    }
    /// Sends again what timed out or whose receiver is not heard any more. Tokens for which there
    /// is nobody left are returned.
    std::vector<AnyToken> resend_failed(MemberAccess& member, Step& step);
    void collect_wakes(WakeTime& wake) const;
    bool operator==(const RingHops&) const = default;
    auto digest_fields() const { return std::tie(under_way_); }

private:
    struct Hop {
        Index to = 0;
        AnyToken token;
        MemberSet skipped;
        Instant until;
        bool operator==(const Hop&) const = default;
    };
    Acknowledged acknowledged_ = Acknowledged::yes;
    std::vector<Hop> under_way_;
};

}  // namespace bullring::protocol
