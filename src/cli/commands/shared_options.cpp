// The options that several subcommands read.
#include <string_view>
#include <vector>

#include "src/base/text/text.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/security/checked_security.hpp"

namespace bullring {

namespace {

void refuse_flags_of_others(bool local, Report& report) {
    if (!local) {
        for (const char* flag : {"id", "data-dir"})
            if (report.typed(flag)) report.say(flag, "it needs " + report.flag("local"));
        return;
    }
    std::vector<std::string_view> of_others = security_flags();
    of_others.emplace_back("peers");
    for (const std::string_view flag : of_others)
        if (report.typed(flag))
            report.say(flag, "it means nothing with " + report.flag("local") +
                                 ", which asks the node on this machine only");
}

}  // namespace

Command command_of(const Given& given) {
    if (given.command.empty() || given.command.front().empty())
        given.report.add(std::string("no command; expected bullring ") + given.subcommand.name +
                         " … -- COMMAND [ARG…]");
    return given.command;
}

std::string data_dir_of_local_node(const Given& given) {
    const auto& [subcommand, request, operands, command, environment, report] = given;
    const auto directory = environment.find("STATE_DIRECTORY");
    const bool named =
        request.data_dir.given || (directory != environment.end() && !directory->second.empty());
    if (named || request.id.given)
        return checked_data_dir(request, environment, request.id.value, report);
    report.add("which node? expected --data-dir DIR, or --id N (and --cluster NAME)");
    return {};
}

ObserverOptions observer_options(const Given& given) {
    const Request& request = given.request;
    given.report.require("peers", request.peers.given, "ID=HOST:PORT,… or @FILE");
    return {request.peers.value, request.cluster.value,
            checked_security(request, protocol::nobody, given.report), request.log()};
}

AskingOptions asking_options(const Given& given) {
    const Request& request = given.request;
    AskingOptions options;
    if (request.local.value) {
        options.data_dir = data_dir_of_local_node(given);
        options.cluster = request.cluster.asked().value_or("");
        options.log = request.log();
    } else {
        static_cast<ObserverOptions&>(options) = observer_options(given);
    }
    refuse_flags_of_others(request.local.value, given.report);
    return options;
}

bool only_checks(const Given& given) {
    // In a file it would mean that no node starts any more.
    if (given.request.check.given && !given.report.typed("check"))
        given.report.say("check", "it can only be given on the command line");
    return given.request.check.value;
}

}  // namespace bullring
