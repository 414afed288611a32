#include "src/node/report/peer_problems.hpp"

#include "protocol/values/dialling.hpp"
#include "src/node/report/refusal_text.hpp"

namespace bullring {

using protocol::Instant;
using protocol::NodeId;

static_assert(PeerProblems::remembered_for > protocol::redial_max);

void PeerProblems::peer_changed(Instant, NodeId peer, bool up) {
    if (up) problems_.erase(peer);
}

void PeerProblems::handshake_refused(Instant at, const protocol::HandshakeRefused& what) {
    // A caller that is refused here may only say that it is that member.
    if (!what.by_us) problems_[what.peer] = {at, why_refused(what, self_)};
}

void PeerProblems::not_secured(Instant at, NodeId peer, const std::string& why) {
    problems_[peer] = {at, why};
}

std::string PeerProblems::text(Instant now) const {
    std::string ids;
    const std::string* why = nullptr;
    for (const auto& [peer, problem] : problems_) {
        if (protocol::elapsed(problem.at, now) > remembered_for) continue;
        if (why == nullptr) why = &problem.why;
        if (problem.why == *why) ids += (ids.empty() ? "" : ", ") + std::to_string(peer.value);
    }
    return why == nullptr ? "" : "not connected with " + ids + ": " + *why;
}

}  // namespace bullring
