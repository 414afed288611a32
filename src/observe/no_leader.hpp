// Why nobody leads, by what the members say, and what is to be done about it: in the words of
// `status`, of /cluster and of the page. Pure: no sockets, no clock.
#pragma once

#include <string>
#include <vector>

#include "src/observe/node_answer.hpp"

namespace bullring {

/// Those who decide whether somebody leads. Where the answers are of two clusters of one name, they
/// are of the one that is meant.
struct Electorate {
    std::vector<protocol::NodeId> voters;  // of the newest list; never changed: all that were asked
    std::vector<const NodeAnswer*> answered;  // of those

    bool is_majority(std::size_t count) const { return count * 2 > voters.size(); }
};

/// `members` outlive it.
Electorate electorate_of(const std::vector<MemberAnswer>& members);

struct NoLeader {
    bool elsewhere = false;  // those who do not answer may have one
    std::string why;
    std::string remedy;
};

/// Of members that do not agree on a leader.
NoLeader why_no_leader(const std::vector<MemberAnswer>& members);

}  // namespace bullring
