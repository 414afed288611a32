// The list of members as `bullring member list` prints it. Pure: no sockets, no clock.
#pragma once

#include <string>
#include <vector>

#include "protocol/values/membership.hpp"
#include "src/observe/status_report.hpp"

namespace bullring {

/// ID, address, vote, reachable, role, one line a member; below them the tag. Reachable at the
/// address of the list: who has answered at another one alone has that instead of "yes".
std::string members_table(const protocol::Membership& list,
                          const std::vector<MemberAnswer>& answers);

/// {"tag":"7.2","members":[{"id":1,"address":"…","vote":true,"reachable":true,
/// "reached_at":"…","role":"leader"},…]} on one line. Where a member that has not answered was
/// reached, and its role, are null.
std::string members_json(const protocol::Membership& list,
                         const std::vector<MemberAnswer>& answers);

/// Why `id` is not reached at the address that the list has of it, for people; empty: it is.
std::string why_not_reached(protocol::NodeId id, const std::string& address,
                            const std::vector<MemberAnswer>& answers);

/// Why nobody has told a list.
std::string why_no_list(const std::vector<MemberAnswer>& answers);

}  // namespace bullring
