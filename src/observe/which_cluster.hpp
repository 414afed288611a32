// Which of several clusters of one name is meant, by the answers of those who were asked: one of
// them may be another cluster's, at a mistaken address. That of which most have answered. Pure.
#pragma once

#include <string>
#include <vector>

#include "src/observe/node_answer.hpp"

namespace bullring {

/// By this clusters of one name are told apart.
struct Origin {
    std::vector<protocol::NodeId> founders;
    protocol::ClusterId id;
};

/// Of two of which as many have answered that whose list has more of those who answered, and else
/// the first.
Origin meant_origin(const std::vector<MemberAnswer>& members);

/// It has a list, of another cluster.
bool is_of_other_cluster(const NodeAnswer& answer, const Origin& origin);
bool is_of_other_cluster(const MemberAnswer& member, const Origin& origin);

/// Of another cluster as many have answered, and its list is as good: any choice is a guess.
bool is_ambiguous(const std::vector<MemberAnswer>& members);

/// "of another cluster of this name, founded by 4"
std::string of_another_cluster(const NodeAnswer& answer, const Origin& origin);

/// Of those who have such a list: one that has none yet tells the members that it was started with.
protocol::Membership newest_list_of(const Origin& origin, const std::vector<MemberAnswer>& members);

/// The answers of that cluster; what others have answered is a problem with their addresses.
std::vector<MemberAnswer> of_cluster(const Origin& origin, std::vector<MemberAnswer> members);

// By the cluster that is meant.

std::vector<MemberAnswer> of_one_cluster(std::vector<MemberAnswer> members);

/// A majority has answered, and is of that cluster.
bool most_are_of_one_cluster(const std::vector<MemberAnswer>& members);

/// Whether who was found by a list is of that cluster, or at least where its own list has a member.
/// Nobody is where those who were asked first are of two, and of none most.
bool may_count_beside(const std::vector<MemberAnswer>& asked_first, const MemberAnswer& found);

/// The id of that cluster; 0: nobody knows it.
protocol::ClusterId meant_cluster_id(const std::vector<MemberAnswer>& members);

/// The newest list of members that any of them has told; empty: none has told one.
protocol::Membership newest_list(const std::vector<MemberAnswer>& members);

}  // namespace bullring
