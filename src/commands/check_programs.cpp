#include "src/commands/check_programs.hpp"

#include "src/report/logging.hpp"
#include "src/runtime/health_check.hpp"
#include "src/supervisor/find_program.hpp"

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
    if (const auto found = find_health_command(health_cmd); !found) complain(found.error());
    return wrong;
}

}  // namespace bullring
