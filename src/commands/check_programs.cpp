#include "src/commands/check_programs.hpp"

#include "src/report/logging.hpp"
#include "src/runtime/health_check.hpp"
#include "src/supervisor/find_program.hpp"

namespace bullring {

std::vector<std::string> program_problems(const Command& command, const std::string& health_cmd) {
    std::vector<std::string> problems;
    if (!command.empty() && !command.front().empty()) {
        if (const auto found = find_program(command.front()); !found)
            problems.push_back(found.error().text);
    }
    if (const auto found = find_health_command(health_cmd); !found)
        problems.push_back(found.error());
    return problems;
}

bool complain_of_programs(const Command& command, const std::string& health_cmd) {
    const std::vector<std::string> problems = program_problems(command, health_cmd);
    for (const std::string& problem : problems) print_error(problem);
    return !problems.empty();
}

}  // namespace bullring
