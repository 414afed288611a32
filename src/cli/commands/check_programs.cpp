#include "src/cli/commands/check_programs.hpp"

#include "src/base/log/logging.hpp"
#include "src/base/text/text.hpp"
#include "src/task/shell_command.hpp"
#include "src/task/supervisor/find_program.hpp"

namespace bullring {

std::vector<std::string> missing_programs(const Command& command, const std::string& health_cmd) {
    std::vector<std::string> problems;
    if (!command.empty() && !command.front().empty()) {
        if (const auto found = find_program(command.front()); !found)
            problems.push_back(found.error().text);
    }
    if (!shell_finds(health_cmd))
        problems.push_back("--health-cmd: " + in_quotes(health_cmd) +
                           " is not found; expected a command that /bin/sh can run");
    return problems;
}

bool complain_of_programs(const Command& command, const std::string& health_cmd) {
    const auto problems = missing_programs(command, health_cmd);
    for (const std::string& problem : problems) print_error(problem);
    return !problems.empty();
}

}  // namespace bullring
