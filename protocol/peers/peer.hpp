// A node's knowledge of one other member: from its handshakes, its heartbeats and its silence
// (PROTOCOL §6). Plain data with a few questions; it decides nothing.
#pragma once

#include <optional>
#include <tuple>

#include "protocol/sessions/session_table.hpp"
#include "protocol/values/actions.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// Somebody's word that a leader (or a candidate with promises) exists.
struct LeaderView {
    NodeId leader;
    Epoch epoch;
    Instant until = long_ago;
    bool announced = false;  // it has announced itself; false: only a promise to a candidate
    bool operator==(const LeaderView&) const = default;
};

struct Peer {
    // ---- From the HELLO of the accepted session that is listened to (§3).
    Incarnation incarnation;
    bool many_runs = false;       // more than one was heard since this node's start
    SessionId accepted;           // `no_session` after its end: then it is not heard
    Introduction introduction;    // also after its end
    Instant heard_at = long_ago;  // the last message on it
    Instant met_at = long_ago;    // this node deals with it since then; long_ago: since its start
    // Until then an earlier run may live on: no FIN showed the end of what it was heard on (R6).
    Instant lost_until = long_ago;

    // ---- The list of members that it has last shown to have; nullopt: none.
    std::optional<Tag> tag = std::nullopt;
    std::vector<NodeId> founders;  // of the list in its HELLO; empty: it had none
    ClusterId cluster_id;          // that it has last said to know (C11)
    Incarnation list_refused;      // of the run of which that was said last (C12.2)
    DirectoryId directory;         // of the run that was heard last

    // ---- From its last heartbeat on that session.
    bool has_heartbeat = false;
    Heartbeat heartbeat;
    Instant heartbeat_at = long_ago;
    LeaderView view;  // from HB, NACK or LEADER; the next HB replaces it

    // ---- From the HELLO_ACK on the session dialled to it.
    SessionId dialled;     // in use for sending; `no_session` when there is none
    bool has_ack = false;  // ever, in this run
    HelloAck ack;          // the newest
    Instant ack_at = long_ago;
    bool answered_again = false;  // it is the answer to a HELLO after this node's silence (R6)
    // The run of it that has said that it has no file yet.
    Incarnation without_file;
    // It has answered REFUSED since: what it says of our id is of another run.
    bool refused = false;

    // ---- From its REFUSED: it hears another process that has this node's id (R6).
    bool hears_twin = false;       // it has not taken this one since
    Instant twin_over = long_ago;  // until then this node is silent for it

    // ---- It is known to be gone as a leader: views of its epochs ≤ gone_epoch are out of date.
    Epoch gone_epoch;
    Instant gone_at = long_ago;
    Instant gone_until = long_ago;
    // ---- The highest epoch that a run of it has resigned; that run never asks for it again.
    Incarnation resigned_by;
    Epoch resigned_epoch;

    // ---- This run of it is known to have ended (R4): nothing of it is listened to any more.
    Incarnation buried;
    Instant buried_until = long_ago;

    // ---- Derived, kept to notice changes.
    bool up = false;  // reported as peer_up
    Instant up_since = long_ago;
    bool told_older = false;  // reported: a lower version than this node's is spoken with it
    PeerDownReason last_end = PeerDownReason::timeout;

    // ---- To it, if it is distant (§6).
    Instant told_at = long_ago;  // this node's last heartbeat, or a time before, drawn at the first

    // ---- Handovers to it (§9).
    Epoch handed_over;  // the epoch given up in its favour, until it has led for T_stable
    Duration hand_over_hold_off{0};
    Instant hand_over_not_before = long_ago;

    bool operator==(const Peer&) const = default;
    auto digest_fields() const {
        return std::tie(incarnation, many_runs, accepted, introduction, heard_at, met_at,
                        lost_until, tag, founders, cluster_id, list_refused, directory,
                        has_heartbeat, heartbeat, heartbeat_at, view, dialled, has_ack, ack, ack_at,
                        answered_again, without_file, refused, hears_twin, twin_over, gone_epoch,
                        gone_at, gone_until, resigned_by, resigned_epoch, buried, buried_until, up,
                        up_since, told_older, last_end, told_at, handed_over, hand_over_hold_off,
                        hand_over_not_before);
    }
};

}  // namespace bullring::protocol
