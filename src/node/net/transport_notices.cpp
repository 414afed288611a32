// The connections of those that outlive a node to report its end (PROTOCOL R4). Anybody can open
// one, and nothing that is said on it counts but a secret that fits.
#include <utility>
#include <vector>

#include "src/node/net/transport.hpp"

namespace bullring {

using protocol::SessionId;

void Transport::on_notice(Entry& entry, const Frame& frame) {
    const SessionId id = entry.session->id();
    const auto* dead = std::get_if<Dead>(&std::get<NoticeMessage>(frame.message));
    if (dead == nullptr && entry.phase == Phase::greeting && notices_.knows(frame.sender)) {
        make_room_for_mourner(frame.sender);
        end_greeting(entry);
        entry.phase = Phase::mourner;
        entry.peer = frame.sender;
        entry.deadline.reset();
        return;
    }
    // N1.3: of a run that is not known, or said twice: without a word, since nobody is
    // authenticated.
    const bool died = dead != nullptr && !is_cut() && notices_.prove(frame.sender, dead->secret);
    // Before the connection is closed: an election may begin with it.
    if (died) handler_.on_event(protocol::Died{frame.sender.id, frame.sender.incarnation});
    close(id);
}

/// N1.3: two are enough for a run; the newest are its undertaker's, if they are not a stranger's.
void Transport::make_room_for_mourner(const Sender& sender) {
    std::vector<SessionId> standing;  // the oldest first
    for (const auto& [id, entry] : sessions_)
        if (entry.phase == Phase::mourner && entry.peer == sender) standing.push_back(id);
    if (standing.size() >= mourners_max) close(standing.front());
}

/// Records the commitment of a HELLO. An undertaker of a run that is forgotten now would stay
/// connected for ever, so its connection is closed.
void Transport::learn(const Entry& entry) {
    notices_.learn(entry.peer, entry.commitment, entry.secured != nullptr);
    std::vector<SessionId> forgotten;
    for (const auto& [id, other] : sessions_)
        if (other.phase == Phase::mourner && other.peer.id == entry.peer.id &&
            !notices_.knows(other.peer))
            forgotten.push_back(id);
    for (const SessionId id : forgotten) close(id);
}

}  // namespace bullring
