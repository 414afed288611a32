// The members' answers to `status`, put together: whether they agree, and how that is shown as a
// table and as JSON. Pure: no sockets, no clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/values/ids.hpp"
#include "src/observe/node_answer.hpp"

namespace bullring {

struct Agreement {
    protocol::NodeId leader;
    protocol::Epoch epoch;
    bool operator==(const Agreement&) const = default;
};

// Where the answers are of two clusters of one name (which_cluster.hpp), all of these functions go
// by the one that is meant.

/// The leader and epoch that a majority of the voters, the unreachable ones counted, agrees on with
/// a live lease. The voters are those of the newest list that was told; where none has ever been
/// changed, all that were asked.
std::optional<Agreement> agreement(const std::vector<MemberAnswer>& members);

/// The member that says of itself that it leads; with several, the one with the newest epoch. None
/// where it is a guess which cluster is meant: its leader would be asked for something.
std::optional<Agreement> claimed_leader(const std::vector<MemberAnswer>& members);

bool all_reachable(const std::vector<MemberAnswer>& members);
/// None of those that are reachable is silent after a restart, or waits for the others because it
/// has no state file: the leader could be stopped now, and all of them would vote for another.
bool all_reachable_vote(const std::vector<MemberAnswer>& members);

/// ID, address, reachable, role, leader, epoch, lease left, uptime, security, why; one line a
/// member. Why a member is not reachable stands in the last column. Below it a line for each thing
/// in which their credentials differ.
std::string status_table(const std::vector<MemberAnswer>& members);

/// One line, for when there is no agreement: how many are reachable, and what each of them says.
std::string why_no_agreement(const std::vector<MemberAnswer>& members);

/// The object of `status --json`, on one line.
std::string status_json(const std::string& cluster, const std::vector<MemberAnswer>& members);

}  // namespace bullring
