#include "src/base/os/child_variables.hpp"

#include <algorithm>

#include <unistd.h>

namespace bullring {

bool is_child_variable(std::string_view name) {
    return std::find(variables::all.begin(), variables::all.end(), name) != variables::all.end();
}

std::string environment_entry(std::string_view name, std::string_view value) {
    return std::string(name) + "=" + std::string(value);
}

std::vector<std::string> environment_with(std::vector<std::string> entries) {
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view text = *one;
        if (!is_child_variable(text.substr(0, text.find('=')))) entries.emplace_back(text);
    }
    return entries;
}

}  // namespace bullring
