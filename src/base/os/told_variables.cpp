#include "src/base/os/told_variables.hpp"

#include <algorithm>

extern char** environ;

namespace bullring {

bool is_told(std::string_view name) {
    return std::find(told::all.begin(), told::all.end(), name) != told::all.end();
}

std::string told_variable(std::string_view name, std::string_view value) {
    return std::string(name) + "=" + std::string(value);
}

std::vector<std::string> environment_with(std::vector<std::string> told) {
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view text = *one;
        if (!is_told(text.substr(0, text.find('=')))) told.emplace_back(text);
    }
    return told;
}

}  // namespace bullring
