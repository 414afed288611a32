#include "src/options/options_sources.hpp"

#include <array>
#include <utility>

namespace bullring {

void report(Problems& problems, const std::string& subject, const std::string& what) {
    problems.push_back(subject + ": " + what);
}

std::optional<bool> boolean_named(std::string_view word) {
    constexpr std::array<std::pair<std::string_view, bool>, 8> words{{{"on", true},
                                                                      {"off", false},
                                                                      {"true", true},
                                                                      {"false", false},
                                                                      {"yes", true},
                                                                      {"no", false},
                                                                      {"1", true},
                                                                      {"0", false}}};
    for (const auto& [candidate, value] : words) {
        if (candidate == word) return value;
    }
    return std::nullopt;
}

void fold_negations(RawValues& values, Problems& problems) {
    for (const Flag& flag : flag_table()) {
        if (flag.negates == nullptr) continue;
        auto negation = values.extract(flag.name);
        if (negation.empty()) continue;
        RawValue value = std::move(negation.mapped());
        // What is no boolean stays as it is, for the reader of the value to complain about.
        if (const std::optional<bool> on = boolean_named(value.text)) {
            value.text = *on ? "off" : "on";
        }
        const auto [positive, is_new] = values.emplace(flag.negates, value);
        if (!is_new && boolean_named(positive->second.text) != boolean_named(value.text)) {
            report(problems, value.origin,
                   "it excludes " + positive->second.origin + "; give one of them");
        }
    }
}

RawValues read_environment(Subcommand subcommand, const Environment& environment,
                           Problems& problems) {
    RawValues values;
    for (const Flag& flag : flag_table()) {
        if (!flag.belongs_to(subcommand)) continue;
        const std::string variable = environment_name(flag.name);
        const auto found = environment.find(variable);
        // An empty variable counts as unset, as the shells' ${NAME:-…} and XDG have it.
        if (found == environment.end() || found->second.empty()) continue;
        values[flag.name] = {found->second, variable};
    }
    fold_negations(values, problems);
    return values;
}

}  // namespace bullring
