// Owns: a node's side of its undertaker, the process that outlives it to report its end to the
// others (PROTOCOL R4), and to end a process that is to end with the node: starting it, what it has
// to know, and another one when it has died. It is a copy of this process that runs nothing of the
// node, and holds its sessions only while a process is to end with it; for its user it is no child
// (no SIGCHLD, and no wait() but with __WALL sees it).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <sys/types.h>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/watch/loop_pulse.hpp"
#include "src/watch/undertaker/undertaker_orders.hpp"

namespace bullring {

/// An operator reads this when start() has failed.
inline constexpr const char* no_undertaker =
    "cannot start the process that reports the end of this one to the others: they would wait for "
    "the end of its lease";

class Undertaker {
public:
    struct Settings {
        /// A guard has to say first that nothing of the command is left: see new_guard().
        bool guarded = false;
        /// In memory that the copy shares; null: nothing else acts for the node.
        LoopPulse* pulse = nullptr;
        /// How long after the end of the node somebody may be bound to it.
        protocol::Duration patience{0};
    };

    explicit Undertaker(const Settings& settings) : settings_(settings) {}
    Undertaker(const Undertaker&) = delete;
    Undertaker& operator=(const Undertaker&) = delete;
    ~Undertaker() { stop(); }

    // One thread at a time.

    /// False when the system has refused it: the end of the node is not reported then. Also after
    /// its end: what the last one knew, this one learns.
    bool start();
    /// Nothing will be reported.
    void stop();
    /// The node has ended in order, and nothing acts for it any more, though its process goes on:
    /// has that reported, and stops then, or after this time, if a member can't be reached.
    void finish(std::chrono::milliseconds longest);
    bool runs() const { return process_ != 0; }
    /// Becomes readable when it has ended. -1: there is none.
    int descriptor() const { return orders_.get(); }

    /// Frames: what each connection begins with, and what is said at the end.
    void set_words(std::span<const std::byte> first, std::span<const std::byte> last);
    /// A member is reached at the other end of this socket.
    void mourn_at(protocol::NodeId peer, int socket);
    /// For a new guard, which writes one byte there when the node has ended and nothing of the
    /// command is left; the word of those before it counts no more.
    OwnedFd new_guard();
    /// This process ends with the node, and at LoopPulse::client_until_ns, before anything is said.
    /// `word`: empty, or the frame by which the node would resign, for the sessions that are kept.
    void end_with_node(int process, std::span<const std::byte> word);
    /// No process does, and no session is kept any more.
    void end_nobody_else();
    void keep(protocol::SessionId session, int descriptor);
    void forget(protocol::SessionId session);
    /// Has an inotify open in the other process, too. The kernel takes one apart with its last
    /// descriptor, and lets the process that closes it wait for some ten milliseconds: a node would
    /// end so much later, and so be reported. At most UndertakerOrder::held_max of them.
    void hold(int descriptor);

private:
    void order(const UndertakerOrder& order, int descriptor = -1);
    void order_to_hold(int descriptor);
    void order_to_keep(protocol::SessionId session, int descriptor);

    Settings settings_;
    OwnedFd orders_;
    pid_t process_ = 0;
    UndertakerOrder words_;
    std::map<protocol::NodeId, UndertakerOrder> places_;
    OwnedFd guard_;  // the end that is read
    std::vector<OwnedFd> held_;
    UndertakerOrder client_order_;
    OwnedFd client_;
    std::map<protocol::SessionId, OwnedFd> sessions_;
};

}  // namespace bullring
