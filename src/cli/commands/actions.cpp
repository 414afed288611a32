#include "src/cli/commands/actions.hpp"

#include <algorithm>

#include "src/base/text/text.hpp"

namespace bullring {

namespace {

using Words = std::vector<std::string>;

/// "ID FILE" are two words; after "FILE…" there may be any number of them, and at least one.
void check_operands(const Action& action, const Given& given) {
    const auto& [subcommand, request, operands, command, environment, report] = given;
    const std::string usage = std::string("bullring ") + subcommand.name + " " + action.name +
                              (*action.operands == '\0' ? "" : " ") + action.operands;
    std::string_view expected = action.operands;
    for (std::size_t i = 1; i < operands.size(); ++i) {
        if (expected.empty()) {
            report.add("unexpected argument " + in_quotes(operands[i]) + "; expected " + usage);
            continue;
        }
        const std::size_t end = std::min(expected.find(' '), expected.size());
        const std::string_view word = expected.substr(0, end);
        if (operands[i].empty())
            report.add("\"\" is no " + std::string(word.substr(0, word.find("…"))) + "; expected " +
                       usage);
        if (!word.ends_with("…")) expected.remove_prefix(std::min(end + 1, expected.size()));
    }
    const bool repeated = expected.ends_with("…") && operands.size() > 1;
    if (!expected.empty() && !repeated)
        report.add("no " + std::string(expected.substr(0, expected.find_first_of(" \xE2"))) +
                   "; expected " + usage);
}

}  // namespace

const Action* checked_action(const Given& given) {
    const Words& operands = given.operands;
    std::string names;
    for (const Action& action : given.subcommand.actions) {
        if (!operands.empty() && operands.front() == action.name) {
            check_operands(action, given);
            return &action;
        }
        names += (names.empty() ? "" : ", ") + std::string(action.name);
    }
    given.report.add(
        (operands.empty() ? "no action" : "unknown action " + in_quotes(operands.front())) +
        "; expected one of " + names + ", as in bullring " + given.subcommand.name + " " +
        names.substr(0, names.find(',')));
    return nullptr;
}

void refuse_flag(const char* flag, const char* action, const char* right, const Given& given) {
    if (given.report.typed(flag))
        given.report.say(flag, std::string("it means nothing to ") + given.subcommand.name + " " +
                                   action + "; it goes with " + right);
}

}  // namespace bullring
