// `bullring member`: prints the list of members, and has it changed by the leader.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/commands/about_file.hpp"
#include "src/cli/commands/actions.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/observe/member_changing.hpp"
#include "src/observe/members_report.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/reached_cluster.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {
namespace {

using protocol::MemberChange;

/// Prints the newest list that anybody has told.
int print_members(const std::vector<MemberAnswer>& all, const MemberOptions& options) {
    const std::vector<MemberAnswer> answers = of_one_cluster(all);
    const protocol::Membership list = newest_list(answers);
    if (list.empty()) {
        print_error(why_no_list(answers));
        return not_done;
    }
    return print_answer(options.json ? members_json(list, answers) + '\n'
                                     : members_table(list, answers))
               ? 0
               : not_done;
}

/// A slip is seen by that, though nothing forbids to change the list before the node has moved.
void tell_of_empty_address(const MemberChange& change, const std::vector<MemberAnswer>& answers) {
    const std::string why = why_not_reached(change.id, change.address, answers);
    if (!why.empty())
        print_error(
            fmt::format("node {} does not answer at {}, where the others dial it from now "
                        "on: {}",
                        change.id.value, change.address, why));
}

asio::awaitable<int> change_and_print(AskedCluster& cluster, const MemberOptions& options) {
    const Outcome outcome = co_await change_members(cluster, options.changes, options.timeout);
    if (outcome.exit_status != 0) {
        print_error(outcome.text);
        co_return outcome.exit_status;
    }
    const MemberChange& change = options.changes.front();
    const bool looks = options.data_dir.empty() && change.what == MemberChange::What::address;
    if (!looks && !options.json) co_return print_answer(outcome.text + '\n') ? 0 : not_done;
    const std::vector<MemberAnswer> answers = co_await cluster.ask({});
    if (looks) tell_of_empty_address(change, answers);
    if (options.json) co_return print_members(answers, options);
    co_return print_answer(outcome.text + '\n') ? 0 : not_done;
}

asio::awaitable<int> work_remotely(ObserverLoop& loop, const MemberOptions& options) {
    RemoteCluster cluster(loop, options, options.timeout);
    if (options.changes.empty()) co_return print_members(co_await cluster.ask({}), options);
    co_return co_await change_and_print(cluster, options);
}

asio::awaitable<int> work_locally(ObserverLoop& loop, const MemberOptions& options) {
    LocalNode node(loop, options.data_dir, options.cluster, options.timeout);
    if (options.changes.empty()) co_return print_members(co_await node.ask({}), options);
    const std::string why_not = co_await node.why_not();
    if (why_not.empty()) co_return co_await change_and_print(node, options);
    print_error(why_not);
    co_return not_done;
}

int run_member(const MemberOptions& options) {
    return run_observer(options, [&](ObserverLoop& loop) {
        return options.data_dir.empty() ? work_remotely(loop, options)
                                        : work_locally(loop, options);
    });
}

/// "4=10.0.0.4:7100".
MemberChange with_address(MemberChange::What what, const std::string& text, Report& report) {
    const ParsedPeers parsed = parse_peers(text);
    if (parsed.problems.empty() && parsed.peers.size() == 1) {
        const auto& [id, endpoint] = *parsed.peers.begin();
        return {what, id, to_text(endpoint)};
    }
    if (parsed.problems.empty())
        report.add(in_quotes(text) + " are " + std::to_string(parsed.peers.size()) +
                   " members; expected one, as 4=10.0.0.4:7100");
    for (const std::string& problem : parsed.problems) report.add(problem);
    return {what, protocol::nobody, ""};
}

MemberChange of_member(MemberChange::What what, const std::string& text, Report& report) {
    const auto id = parse_node_id(text);
    if (!id) report.add(id.error());
    return {what, id.value_or(protocol::nobody), ""};
}

std::vector<MemberChange> changes(MemberAction action, const std::string& operand, bool voter,
                                  Report& report) {
    using What = MemberChange::What;
    switch (action) {
        case MemberAction::list:
        case MemberAction::refound: break;
        case MemberAction::add: {
            const MemberChange add = with_address(What::add, operand, report);
            if (voter) return {add, {What::promote, add.id, ""}};
            return {add};
        }
        case MemberAction::remove: return {of_member(What::remove, operand, report)};
        case MemberAction::promote: return {of_member(What::promote, operand, report)};
        case MemberAction::demote: return {of_member(What::demote, operand, report)};
        case MemberAction::address: return {with_address(What::address, operand, report)};
    }
    return {};
}

}  // namespace

Work member_command(const Given& given) {
    const auto& [subcommand, request, operands, command, environment, report] = given;
    if (!operands.empty() && operands.front() == name(MemberAction::refound))
        return refound_work(given);
    refuse_flag("others-are-lost", operands.empty() ? "" : operands.front().c_str(),
                "member refound", given);
    MemberOptions options;
    static_cast<AskingOptions&>(options) = asking_options(given);
    options.json = request.json.value;
    options.timeout = request.changed_within.value;
    const Action* const action = checked_action(given);
    if (action == nullptr) return {std::move(options), run_member};
    const MemberAction what = *protocol::named<MemberAction>(action->name);
    if (what != MemberAction::add) refuse_flag("voter", action->name, "member add", given);
    if (operands.size() == 2 && !operands.back().empty())
        options.changes = changes(what, operands.back(), request.voter.value, report);
    return {std::move(options), run_member};
}

}  // namespace bullring
