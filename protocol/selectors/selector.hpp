// The contract of a selector: an election algorithm that says who stands, and when, and how a lease
// request travels to the voters. It decides nothing about safety: whatever it does, two nodes never
// lead at once, because grants and leases are decided in lease/ (R1-R3). Bully and Ring are
// selectors.
//
// A selector is a value of its own state. It learns of every event last:
//   - `advance` runs its timers and conditions. It must answer a call (answer_call) by
//     standing, and otherwise begin an election where may_start() says so;
//   - `carry` brings a request, which campaign() or a renewal has made, to those it is for;
//   - `on_message` takes a message of the algorithm from the connected or once connected peer
//     `from`; there is one overload for each message that the algorithm has, and other messages
//     never reach it. Messages may be lost, late, repeated or invented;
//   - `collect_wakes` names the next instants at which `advance` has something to do.
// It keeps no clock and draws what is random from random_up_to(). MemberAccess is all that it may
// know and do.
#pragma once

#include <concepts>

#include "protocol/selectors/member_access.hpp"

namespace bullring::protocol {

template <class S>
concept Selector = std::copyable<S> && std::equality_comparable<S> &&
    std::constructible_from<S, const Config&> &&
    std::same_as<decltype(S::algorithm), const Algorithm> &&
    requires(S selector, const S& state, MemberAccess& member, Step& step,
             const AddressedRequest& asked, WakeTime& wake) {
    selector.advance(member, step);
    selector.carry(member, step, asked);
    state.collect_wakes(wake);
    state.digest_fields();
};

/// The algorithm S has this message.
template <class S, class M>
concept Understands = requires(S selector, MemberAccess& member, Step& step, Index from,
                               const M& m) {
    selector.on_message(member, step, from, m);
};

}  // namespace bullring::protocol
