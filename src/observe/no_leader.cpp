#include "src/observe/no_leader.hpp"

#include <algorithm>
#include <iterator>

#include "src/observe/which_cluster.hpp"

namespace bullring {

namespace {

using Answers = std::vector<const NodeAnswer*>;

Answers answers_in(const std::vector<MemberAnswer>& members) {
    const Origin origin = meant_origin(members);
    Answers answers;
    for (const MemberAnswer& one : members)
        if (one.answer && !is_of_other_cluster(one, origin)) answers.push_back(&*one.answer);
    return answers;
}

bool somebody_refuses(const std::vector<MemberAnswer>& members) {
    return std::any_of(members.begin(), members.end(),
                       [](const MemberAnswer& one) { return !one.answer && one.refused; });
}

bool hears_a_majority(const NodeAnswer& node, const Electorate& electorate) {
    const auto heard = std::count_if(
        electorate.voters.begin(), electorate.voters.end(), [&](protocol::NodeId voter) {
            return voter == node.id || std::find(node.peers_up.begin(), node.peers_up.end(),
                                                 voter) != node.peers_up.end();
        });
    return electorate.is_majority(static_cast<std::size_t>(heard));
}

/// Its command has ended by itself, or could not be started.
bool work_fails(const NodeAnswer& node) {
    return node.task && !node.task->running && !node.task->last_end.empty();
}

/// All that are there hear each other, and none of them stands.
NoLeader why_none_stands(const Answers& all) {
    Answers hindered;
    std::copy_if(all.begin(), all.end(), std::back_inserter(hindered),
                 [](const NodeAnswer* one) { return !one->wrong.empty(); });
    const auto each = [&](auto predicate) {
        return std::all_of(hindered.begin(), hindered.end(), predicate);
    };
    if (hindered.empty())
        return {false, "none of those who are there may lead",
                "start a node whose --priority is not never"};
    if (each([](const NodeAnswer* one) { return one->healthy == false; }))
        return {false, "the health check fails on every node that could lead",
                "run the health command by hand there"};
    if (!each([](const NodeAnswer* one) { return one->healthy != false && work_fails(*one); }))
        return {false, "something is wrong with every node that could lead",
                "mend what each of them names"};
    const std::string remedy = "see what it has printed before it ended";
    if (each([](const NodeAnswer* one) { return one->mode == "run"; }))
        return {false, "the command fails on every node that could lead",
                remedy + "; where it is tried again, SIGHUP has it tried at once"};
    return {false, "the work fails on every node that could lead", remedy};
}

}  // namespace

Electorate electorate_of(const std::vector<MemberAnswer>& members) {
    const protocol::Membership list = newest_list(members);
    Electorate electorate;
    const auto has_vote = [&](protocol::NodeId id) {
        const protocol::MemberEntry* const listed = list.find(id);
        return !list.changed() || (listed != nullptr && listed->votes);
    };
    if (list.changed()) {
        for (const protocol::MemberEntry& entry : list.entries())
            if (entry.votes) electorate.voters.push_back(entry.id);
    } else {
        for (const MemberAnswer& one : members) electorate.voters.push_back(one.id);
    }
    const Origin origin = meant_origin(members);
    for (const MemberAnswer& one : members)
        if (one.answer && !is_of_other_cluster(one, origin) && has_vote(one.id))
            electorate.answered.push_back(&*one.answer);
    return electorate;
}

NoLeader why_no_leader(const std::vector<MemberAnswer>& members) {
    const Electorate electorate = electorate_of(members);
    const Answers& voters = electorate.answered;
    const Answers all = answers_in(members);
    if (!electorate.is_majority(voters.size()))
        return {true, "no majority answers",
                somebody_refuses(members)
                    ? "compare --cluster, --security and its files with those of the members"
                    : "start the others, or mend the network between here and them"};
    if (std::any_of(all.begin(), all.end(),
                    [](const NodeAnswer* one) { return one->follows_live_leader(); }))
        return {false, "no majority agrees on one leader with a live lease",
                "wait; if it lasts, those who do not follow say why"};
    if (std::none_of(voters.begin(), voters.end(),
                     [&](const NodeAnswer* one) { return hears_a_majority(*one, electorate); }))
        return {false, "no majority hears each other",
                "mend the network between them, in both directions"};
    const auto voting = std::count_if(voters.begin(), voters.end(),
                                      [](const NodeAnswer* one) { return one->votes; });
    if (!electorate.is_majority(static_cast<std::size_t>(voting)))
        return {false, "no majority votes yet",
                "wait as long as they say, or start whom they name"};
    if (std::all_of(all.begin(), all.end(),
                    [](const NodeAnswer* one) { return one->eligible == false; }))
        return why_none_stands(all);
    return {false, "an election is due or under way", "wait; if it lasts, the logs say why"};
}

}  // namespace bullring
