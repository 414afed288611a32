#include "src/cli/options/environment.hpp"

#include <algorithm>
#include <string_view>

#include "src/base/os/child_variables.hpp"

namespace bullring {

namespace {

constexpr std::string_view prefix = "BULLRING_";

/// BULLRING_SERVICE_HOST, BULLRING_SERVICE_PORT, BULLRING_PORT, BULLRING_PORT_7100_TCP_ADDR …
bool is_of_kubernetes(std::string_view rest) {
    return rest.starts_with("SERVICE_") || rest == "PORT" || rest.starts_with("PORT_");
}

std::string flag_name(std::string_view rest) {
    std::string name;
    for (const char c : rest) {
        const bool upper = c >= 'A' && c <= 'Z';
        name += c == '_' ? '-' : upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return name;
}

}  // namespace

RawValues read_environment(std::string_view subcommand, const Environment& environment) {
    RawValues values;
    for (const Flag& flag : flag_table()) {
        if (!flag.belongs_to(subcommand)) continue;
        const std::string variable = environment_name(flag.name);
        const auto found = environment.find(variable);
        if (found == environment.end() || found->second.empty()) continue;
        values[flag.name] = {found->second, variable};
    }
    return values;
}

std::vector<std::string> misspelt_variables(std::string_view subcommand,
                                            const Environment& environment) {
    std::vector<std::string> sentences;
    for (auto one = environment.lower_bound(prefix);
         one != environment.end() && one->first.starts_with(prefix); ++one) {
        const std::string_view rest = std::string_view(one->first).substr(prefix.size());
        const std::string name = flag_name(rest);
        if (is_flag(name) || is_child_variable(one->first) || is_of_kubernetes(rest)) continue;
        const std::string_view nearest = nearest_flag(name, subcommand);
        if (!nearest.empty())
            sentences.push_back("the environment variable " + one->first +
                                " sets nothing; did you mean " + environment_name(nearest) + "?");
    }
    return sentences;
}

}  // namespace bullring
