#include "src/cli/commands/check_programs.hpp"

#include "src/base/log/logging.hpp"
#include "src/base/text/text.hpp"
#include "src/task/shell_command.hpp"
#include "src/task/supervisor/find_program.hpp"

namespace bullring {

bool complain_of_programs(const Command& command, const std::string& health_cmd) {
    bool wrong = false;
    const auto complain = [&](const std::string& problem) {
        print_error(problem);
        wrong = true;
    };
    if (!command.empty() && !command.front().empty()) {
        if (const auto found = find_program(command.front()); !found) complain(found.error().text);
    }
    if (!shell_finds(health_cmd))
        complain("--health-cmd: " + in_quotes(health_cmd) +
                 " is not found; expected a command that /bin/sh can run");
    return wrong;
}

}  // namespace bullring
