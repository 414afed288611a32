// The options that several subcommands read.
#include "src/base/text/text.hpp"
#include "src/cli/commands/commands.hpp"

namespace bullring {

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

bool only_checks(const Given& given) {
    // In a file it would mean that no node starts any more.
    if (given.request.check.given && !given.report.typed("check"))
        given.report.say("check", "it can only be given on the command line");
    return given.request.check.value;
}

}  // namespace bullring
