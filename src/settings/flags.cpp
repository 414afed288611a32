#include "src/settings/flags.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/text/nearest.hpp"

namespace bullring {

namespace {

bool has_word(std::string_view words, std::string_view word) {
    return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") !=
           std::string::npos;
}

}  // namespace

bool Flag::belongs_to(std::string_view owner) const {
    return std::any_of(owners.begin(), owners.end(), [&](std::string_view words) {
        return has_word(words, owner) || (words == any_subcommand && owner != library);
    });
}

std::string Flag::default_text() const {
    if (standard != nullptr) return standard;
    return place.standard == nullptr ? "" : place.standard();
}

std::span<const Flag> flag_table() {
    const std::span<const Flag> all = setting_table();
    const auto of_library = std::find_if(
        all.begin(), all.end(), [](const Flag& row) { return row.owners.front() == library; });
    return all.first(static_cast<std::size_t>(of_library - all.begin()));
}

const Flag* find_flag(std::string_view owner, std::string_view name) {
    for (const Flag& row : setting_table())
        if (row.name == name && row.belongs_to(owner)) return &row;
    return nullptr;
}

bool is_flag(std::string_view flag_name) {
    const std::span<const Flag> all = flag_table();
    return std::any_of(all.begin(), all.end(),
                       [&](const Flag& flag) { return flag.name == flag_name; });
}

std::string environment_name(std::string_view flag_name) {
    std::string result = "BULLRING_";
    for (const char c : flag_name) {
        const bool lower = c >= 'a' && c <= 'z';
        result += c == '-' ? '_' : lower ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return result;
}

std::string_view nearest_flag(std::string_view wrong_name, std::string_view owner) {
    std::vector<std::string_view> names;
    for (const Flag& row : setting_table())
        if (owner.empty() ? is_flag(row.name) : row.belongs_to(owner)) names.emplace_back(row.name);
    return nearest(wrong_name, names);
}

void fold_negations(RawValues& values, Problems& problems) {
    for (const Flag& flag : flag_table()) {
        if (flag.negates == nullptr) continue;
        auto negation = values.extract(flag.name);
        if (negation.empty()) continue;
        RawValue value = std::move(negation.mapped());
        // A value that is no boolean stays as it is; the reader of the value reports it.
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

}  // namespace bullring
