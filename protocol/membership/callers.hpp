// Members that call from another address than their entry's (PROTOCOL C13): who is dialled where it
// calls from, too, and who takes over an address in the list.
#pragma once

#include <string>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// Where the dialler of a HELLO is to be dialled, which has come from `seen`; empty: it has not
/// said.
inline std::string calls_from(const std::string& listens, const std::string& seen) {
    if (!listens.starts_with(':')) return listens;
    return seen.substr(0, seen.rfind(':')) + listens;
}

/// A run of that peer has said HELLO, or has answered one: it may ask for a lease as long as it
/// says (R7), and its directory is known from now on (C13.1), if it has done both.
void note_run_of(Parts& node, Step& step, Index i);
/// The promise that a request of that peer will need; 0 of one that would be refused.
Duration expected_promise(const Parts& node, Index i);
/// C13.1: whether the peer is dialled where it says that it is, too.
bool may_be_dialled_where_it_calls(const Parts& node, Index i);
/// C13.2: the member of the change says that it is at the change's address.
bool calls_from_there(const Parts& node, const MemberChange& change);
/// The processes that are heard with those ids are reached at their entries' addresses.
MemberSet reached_at_their_addresses(const Parts& node, Instant now);

}  // namespace bullring::protocol
