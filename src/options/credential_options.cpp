#include "src/options/credential_options.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "src/options/flags.hpp"
#include "src/options/request.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

using Words = std::vector<std::string>;

/// The place of an action among those of its subcommand, as the enumerations have them.
struct ChosenAction {
    const Action* row = nullptr;
    std::size_t place = 0;
};

std::string usage_of(const Action& action) {
    const std::string operands = action.operands;
    return std::string("bullring ") + text_of(action.subcommand).name + " " + action.name +
           (operands.empty() ? "" : " " + operands);
}

ChosenAction chosen_action(Subcommand subcommand, const Words& operands, Report& report) {
    std::string names;
    std::size_t place = 0;
    for (const Action& action : action_table()) {
        if (action.subcommand != subcommand) continue;
        if (!operands.empty() && operands.front() == action.name) return {&action, place};
        names += (names.empty() ? "" : ", ") + std::string(action.name);
        ++place;
    }
    const std::string command = text_of(subcommand).name;
    report.add((operands.empty() ? "no action" : "unknown action " + in_quotes(operands.front())) +
               "; expected one of " + names + ", as in bullring " + command + " " +
               names.substr(0, names.find(',')));
    return {};
}

/// "ID FILE" are two words; after "FILE…" there may be any number of them, and at least one.
void check_operands(const Action& action, const Words& operands, Report& report) {
    std::string_view expected = action.operands;
    for (std::size_t i = 1; i < operands.size(); ++i) {
        if (expected.empty()) {
            report.add("unexpected argument " + in_quotes(operands[i]) + "; expected " +
                       usage_of(action));
            continue;
        }
        const std::size_t end = std::min(expected.find(' '), expected.size());
        const std::string_view word = expected.substr(0, end);
        if (operands[i].empty())
            report.add("\"\" is no " + std::string(word.substr(0, word.find("…"))) + "; expected " +
                       usage_of(action));
        if (!word.ends_with("…")) expected.remove_prefix(std::min(end + 1, expected.size()));
    }
    const bool repeated = expected.ends_with("…") && operands.size() > 1;
    if (!expected.empty() && !repeated)
        report.add("no " + std::string(expected.substr(0, expected.find_first_of(" \xE2"))) +
                   "; expected " + usage_of(action));
}

/// A flag that means nothing to this action would be taken for one that has worked.
void refuse_flag(std::string_view flag, const Action& action, const char* right, Reader& read,
                 Report& report) {
    if (read.typed(flag))
        report.say(flag, std::string("it means nothing to ") + text_of(action.subcommand).name +
                             " " + action.name + "; it goes with " + right);
}

bool is_key_id(std::string_view text) {
    constexpr std::size_t digits = 8;
    return text.size() == digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void take_ids(const Words& operands, std::vector<protocol::NodeId>& ids, Report& report) {
    for (auto text = std::next(operands.begin()); text != operands.end(); ++text) {
        if (text->empty()) continue;
        const auto id = parse_node_id(*text);
        if (!id)
            report.add(id.error());
        else if (std::find(ids.begin(), ids.end(), *id) != ids.end())
            report.add("ID " + std::to_string(id->value) + " is given twice");
        else
            ids.push_back(*id);
    }
}

}  // namespace

KeyOptions key_options(const Words& operands, Reader& read, Report& report) {
    KeyOptions options;
    static_cast<void>(read.log());
    read("out", options.out);
    const auto [action, place] = chosen_action(Subcommand::key, operands, report);
    if (action == nullptr) return options;
    options.action = static_cast<KeyAction>(place);
    check_operands(*action, operands, report);
    if (options.action != KeyAction::make) {
        refuse_flag("out", *action, "key new", read, report);
        options.file = operands.back();
    } else if (read.given("out") && options.out.empty()) {
        report.refuse("out", options.out, "names no file");
    }
    if (options.action == KeyAction::use || options.action == KeyAction::remove) {
        if (operands.size() > 1) options.id = operands[1];
        if (operands.size() > 1 && !is_key_id(options.id))
            report.add(in_quotes(options.id) +
                       " is no key's ID; expected 8 hex digits, as bullring key list FILE prints "
                       "them");
    }
    return options;
}

CertOptions cert_options(const Words& operands, Reader& read, Report& report) {
    constexpr WholeNumber days{1, 36'500, "a whole number, 1 … 36500"};
    CertOptions options;
    static_cast<void>(read.log());
    read.cluster(options.cluster);
    read("ca", options.ca);
    read("out", options.out);
    read.whole("days", days, options.days);
    read("overwrite", options.overwrite);
    for (const char* directory : {"ca", "out"})
        if (read.text(directory) == "") report.refuse(directory, "", "names no directory");
    const auto [action, place] = chosen_action(Subcommand::cert, operands, report);
    if (action == nullptr) return options;
    options.action = static_cast<CertAction>(place);
    check_operands(*action, operands, report);
    const bool issues = options.action == CertAction::node || options.action == CertAction::admin ||
                        options.action == CertAction::observer;
    const bool makes_ca = options.action == CertAction::ca;
    const bool shows = options.action == CertAction::show;
    if (!issues) refuse_flag("overwrite", *action, "cert node, admin and observer", read, report);
    if (!issues && !makes_ca)
        refuse_flag("out", *action, "cert ca, node, admin and observer", read, report);
    if (!issues && !makes_ca)
        refuse_flag("cluster", *action, "cert ca, node, admin and observer", read, report);
    if (makes_ca || shows)
        refuse_flag("ca", *action, "cert node, admin, observer, revoke and crl", read, report);
    if (shows) refuse_flag("days", *action, "all that is signed", read, report);
    if (options.action == CertAction::node)
        take_ids(operands, options.ids, report);
    else
        options.files.assign(std::next(operands.begin()), operands.end());
    return options;
}

}  // namespace bullring
