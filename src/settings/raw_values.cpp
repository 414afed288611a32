#include "src/settings/raw_values.hpp"

#include "src/base/text/text.hpp"

namespace bullring {

void report(Problems& problems, const std::string& subject, const std::string& what) {
    problems.push_back(subject + ": " + what);
}

std::optional<bool> boolean_named(std::string_view word) {
    const std::string lowered = in_small_letters(word);
    for (const std::string_view on : {"on", "true", "yes", "1"})
        if (lowered == on) return true;
    for (const std::string_view off : {"off", "false", "no", "0"})
        if (lowered == off) return false;
    return std::nullopt;
}

bool Report::typed(std::string_view flag) const {
    const auto found = values_.find(flag);
    return found != values_.end() && found->second.origin.starts_with(this->flag(flag));
}

void Report::say(std::string_view flag, const std::string& what, bool passes) {
    passing_ += passes ? 1 : 0;
    const auto found = values_.find(flag);
    report(problems_, found == values_.end() ? this->flag(flag) : found->second.origin, what);
}

void Report::refuse(std::string_view flag, std::string_view value, const std::string& why) {
    say(flag, in_quotes(value) + " " + why);
}

void Report::require(std::string_view flag, bool given, const std::string& right) {
    if (!given) say(flag, "it is missing; expected " + right);
}

}  // namespace bullring
