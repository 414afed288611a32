#include "src/node/report/peer_refusals.hpp"

#include "protocol/values/names.hpp"
#include "src/node/report/refusal_text.hpp"

namespace bullring {

void PeerRefusals::peer_changed(protocol::Instant, protocol::NodeId peer, bool up) {
    if (up) why_.erase(peer);
}

void PeerRefusals::handshake_refused(protocol::Instant, const protocol::HandshakeRefused& what) {
    // A caller that is refused here may only say that it is that member.
    if (!what.by_us) why_[what.peer] = why_refused(what, self_);
}

std::string PeerRefusals::text() const {
    if (why_.empty()) return "";
    const std::string& why = why_.begin()->second;
    std::string ids;
    std::size_t count = 0;
    for (const auto& [peer, other] : why_) {
        if (other != why) continue;
        ids += (ids.empty() ? "" : ", ") + std::to_string(peer.value);
        ++count;
    }
    return ids + (count == 1 ? " refuses it: " : " refuse it: ") + why;
}

}  // namespace bullring
