// A node that joins: those whom it would ask to be added, and what they would say. By the plan by
// which the joiner acts, which is not carried out.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "src/cli/doctor/checks.hpp"
#include "src/observe/join_plan.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring::doctor {

namespace {

std::string asked_at(const MemberAnswer& asked) {
    return (asked.id ? fmt::format("member {} at ", asked.id.value) : "join ") + asked.address;
}

void tell_silent(const MemberAnswer& asked, bool anybody_answers, Findings& findings) {
    if (asked.refused)
        return findings.fail(asked_at(asked), "somebody is there, and refuses: " + asked.problem,
                             "compare --cluster, --security and their files with the others'");
    const std::string what = "no member answers there: " + asked.problem;
    const char* const remedy =
        "start the members, or correct --join; is a firewall on the way to that port?";
    if (anybody_answers)
        findings.warn(asked_at(asked), what, remedy);
    else
        findings.fail(asked_at(asked), what, remedy);
}

/// In words, what it would ask for.
std::string wishes_text(const NodeOptions& options, const JoinPlan& plan) {
    using What = protocol::MemberChange::What;
    std::string text;
    for (const protocol::MemberChange& change : plan.changes) {
        text += text.empty() ? "it would ask " : ", and ";
        if (change.what == What::add)
            text += "to be added, without a vote, at " + change.address;
        else if (change.what == What::address)
            text += "for the address " + change.address;
        else
            text += "for a vote";
    }
    if (!text.empty()) return text;
    return fmt::format("node {} is a member already, at {}", options.config.self.value,
                       plan.address);
}

}  // namespace

void check_joining(const NodeOptions& options, const KnownCluster& known,
                   const Surroundings& around, bool runs, Findings& findings) {
    const protocol::NodeId self = options.config.self;
    const auto answers = [](const MemberAnswer& one) { return one.answer.has_value(); };
    const bool anybody_answers = std::any_of(around.joined.begin(), around.joined.end(), answers);
    protocol::Incarnation run;
    std::set<std::string> told;
    for (const MemberAnswer& asked : around.joined) {
        if (asked.id == self) {  // the plan tells of it
            if (runs && asked.answer) run = asked.incarnation;
            continue;
        }
        // A list may name it, too.
        if (!told.insert(asked.address).second) continue;
        if (!asked.answer) {
            tell_silent(asked, anybody_answers, findings);
            continue;
        }
        const std::size_t before = findings.all().size();
        tell_differences(asked_at(asked), options, known, *asked.answer, runs, findings);
        if (findings.all().size() == before)
            findings.ok(asked_at(asked), "it answers, and says: " + asked.answer->why);
    }
    if (!anybody_answers) return;
    const auto plan = plan_joining({options, run, known}, around.joined);
    if (!plan && std::any_of(findings.all().begin(), findings.all().end(),
                             [&](const Finding& one) { return one.what == plan.error().what; }))
        return;
    if (plan && !runs && known.list.empty() && plan->list.find(self) != nullptr)
        findings.note("joining",
                      fmt::format("node {} is a member, and nobody answers at its address: this "
                                  "node takes its place",
                                  self.value));
    if (plan && plan->was_removed)
        findings.fail("joining", fmt::format("node {} was removed, and stays out", self.value),
                      "have it added again: " + added_again_by(options, plan->address));
    else if (plan)
        findings.ok("joining", wishes_text(options, *plan));
    else if (newest_list(around.joined).empty())
        findings.warn("joining", plan.error().what,
                      "it goes on asking until they have a leader; start a majority of them");
    else
        findings.fail("joining", plan.error().what, plan.error().remedy);
}

}  // namespace bullring::doctor
