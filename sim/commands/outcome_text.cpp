#include "sim/commands/outcome_text.hpp"

#include <fmt/format.h>

#include "sim/scenario/duration_text.hpp"
#include "sim/scenario/settings_text.hpp"

namespace bullring::sim {

std::string settings_line(const Scenario& scenario) {
    std::string text = "# ";
    for (const char c : settings_text(scenario)) {
        if (c == '\n')
            text += ", ";
        else
            text += c;
    }
    if (text.ends_with(", ")) text.resize(text.size() - 2);
    return text;
}

std::string violation_text(const Violation& violation) {
    return fmt::format("{} is broken at {:.6f} s, step {}: {}", violation.check,
                       static_cast<double>(violation.at) / 1e9, violation.step, violation.what);
}

std::string outcome_text(const Outcome& outcome) {
    std::string text;
    for (const Waited& waited : outcome.waited)
        text += fmt::format("# {}: a leader after {} (within {})\n", waited.check,
                            rounded_text(waited.took), rounded_text(waited.limit));
    text += fmt::format(
        "# {:.3f} s simulated, {} steps, {} messages delivered, {} elections, "
        "digest {:016x}\n",
        static_cast<double>(outcome.simulated) / 1e9, outcome.steps, outcome.delivered,
        outcome.elections, outcome.digest);
    if (outcome.violation) text += violation_text(*outcome.violation) + "\n";
    return text;
}

}  // namespace bullring::sim
