#include "src/observe/which_cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bullring {
namespace {

Origin origin_of(const NodeAnswer& answer) { return {answer.founders, answer.cluster_id}; }

bool differ(const Origin& a, const Origin& b) {
    return a.founders != b.founders || are_of_different_clusters(a.id, b.id);
}

/// Somebody with the same founders knows more: there may be two such clusters.
bool is_vague(const Origin& origin, const std::vector<MemberAnswer>& members) {
    return !origin.id && std::any_of(members.begin(), members.end(), [&](const MemberAnswer& one) {
        return one.answer && one.answer->cluster_id && one.answer->founders == origin.founders;
    });
}

/// Of those who have a list, and say all that they could; some more than once.
std::vector<Origin> origins_of(const std::vector<MemberAnswer>& members) {
    std::vector<Origin> origins;
    for (const MemberAnswer& member : members)
        if (member.answer && !member.answer->founders.empty())
            if (Origin origin = origin_of(*member.answer); !is_vague(origin, members))
                origins.push_back(std::move(origin));
    return origins;
}

/// How many have answered of it, and how many of all who have answered its list has.
using Weight = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
Weight weight_of(const Origin& origin, const std::vector<MemberAnswer>& members) {
    const protocol::Membership list = newest_list_of(origin, members);
    return {std::count_if(members.begin(), members.end(),
                          [&](const MemberAnswer& one) {
                              return one.answer && !differ(origin_of(*one.answer), origin);
                          }),
            std::count_if(members.begin(), members.end(), [&](const MemberAnswer& one) {
                return one.answer && list.find(one.id) != nullptr;
            })};
}

}  // namespace

bool is_of_other_cluster(const NodeAnswer& answer, const Origin& origin) {
    return !answer.founders.empty() && differ(origin_of(answer), origin);
}
bool is_of_other_cluster(const MemberAnswer& member, const Origin& origin) {
    return member.answer && is_of_other_cluster(*member.answer, origin);
}

protocol::Membership newest_list_of(const Origin& origin,
                                    const std::vector<MemberAnswer>& members) {
    // A list without an id may be of before the cluster was founded anew (PROTOCOL C12.2).
    protocol::Membership newest;
    for (const MemberAnswer& member : members)
        if (member.answer && member.answer->founders == origin.founders &&
            member.answer->cluster_id == origin.id && newest.tag() < member.answer->list.tag())
            newest = member.answer->list;
    return newest;
}

Origin meant_origin(const std::vector<MemberAnswer>& members) {
    Origin meant;
    Weight most{0, 0};
    for (const Origin& origin : origins_of(members))
        if (const Weight weight = weight_of(origin, members); weight > most) {
            most = weight;
            meant = origin;
        }
    return meant;
}

bool is_ambiguous(const std::vector<MemberAnswer>& members) {
    const Origin meant = meant_origin(members);
    const std::vector<Origin> origins = origins_of(members);
    return std::any_of(origins.begin(), origins.end(), [&](const Origin& other) {
        return differ(other, meant) && weight_of(other, members) == weight_of(meant, members);
    });
}

std::string of_another_cluster(const NodeAnswer& answer, const Origin& origin) {
    return "of another cluster of this name, founded by " + protocol::ids_text(answer.founders) +
           (answer.founders == origin.founders ? ", with the id " + to_text(answer.cluster_id)
                                               : "");
}

std::vector<MemberAnswer> of_cluster(const Origin& origin, std::vector<MemberAnswer> members) {
    for (MemberAnswer& one : members) {
        if (!is_of_other_cluster(one, origin)) continue;
        one.problem = of_another_cluster(*one.answer, origin);
        one.refused = true;
        one.answer.reset();
    }
    return members;
}

std::vector<MemberAnswer> of_one_cluster(std::vector<MemberAnswer> members) {
    const Origin origin = meant_origin(members);
    return of_cluster(origin, std::move(members));
}

bool most_are_of_one_cluster(const std::vector<MemberAnswer>& members) {
    const Origin origin = meant_origin(members);
    const auto agree = std::count_if(members.begin(), members.end(), [&](const MemberAnswer& one) {
        return one.answer && !is_of_other_cluster(one, origin);
    });
    return static_cast<std::size_t>(agree) * 2 > members.size();
}

bool may_count_beside(const std::vector<MemberAnswer>& asked_first, const MemberAnswer& found) {
    const Origin origin = meant_origin(asked_first);
    const bool is_clear =
        most_are_of_one_cluster(asked_first) ||
        std::none_of(asked_first.begin(), asked_first.end(),
                     [&](const MemberAnswer& one) { return is_of_other_cluster(one, origin); });
    if (!found.answer || !is_clear) return !found.answer;
    if (!is_of_other_cluster(found, origin)) return true;
    const protocol::Membership list = newest_list_of(origin, asked_first);
    const protocol::MemberEntry* const entry = list.find(found.id);
    return entry != nullptr && entry->address == found.address;
}

protocol::ClusterId meant_cluster_id(const std::vector<MemberAnswer>& members) {
    return meant_origin(members).id;
}

protocol::Membership newest_list(const std::vector<MemberAnswer>& members) {
    return newest_list_of(meant_origin(members), members);
}

}  // namespace bullring
