// Owns: a second process that shares this one's memory and does nothing but wait for its death.
//
// When a process dies, the kernel takes its memory down before it closes its sockets, so the FIN by
// which the others learn of a leader's death is late by what that takes: half a millisecond for a
// small program, 25 ms for each GiB. As long as somebody else still uses the memory there is
// nothing to take down, and the sockets are closed at once. The keeper runs no code of the node,
// holds none of its descriptors and ends right after it: FIN still means that the node computes
// nothing any more (PROTOCOL R4).
#pragma once

namespace bullring {

/// Once, before the first thread and the first socket. Without a keeper everything works, only
/// later; false when the system has refused it.
bool start_memory_keeper();

}  // namespace bullring
