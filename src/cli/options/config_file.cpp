// The only user of toml++.
#include <sstream>

#include <toml++/toml.h>

#include "src/base/text/text.hpp"
#include "src/cli/options/sources.hpp"

namespace bullring {

namespace {

std::optional<std::string> joined_strings(const toml::array& array) {
    std::string text;
    for (const toml::node& element : array) {
        const auto* entry = element.as_string();
        if (entry == nullptr) return std::nullopt;
        text += entry->get() + "\n";
    }
    return text;
}

bool is_list(std::string_view key) { return key == "peers" || key == "join" || key == "address"; }

/// The text that the command line would have for it; nullopt when the flag can mean no such value.
std::optional<std::string> raw_text(const toml::node& node, const Flag& flag) {
    if (const auto* text = node.as_string()) {
        // The system's calls would take such a text for a shorter one.
        if (text->get().find('\0') != std::string::npos) return std::nullopt;
        return text->get();
    }
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    const auto* boolean = node.as_boolean();
    if (boolean != nullptr && flag.place.on_or_off) return boolean->get() ? "on" : "off";
    const auto* array = node.as_array();
    if (array != nullptr && is_list(flag.name)) return joined_strings(*array);
    return std::nullopt;
}

/// It may hold the required settings, so they must not be reported as missing.
RawValues unreadable(std::string_view subcommand) {
    RawValues values;
    for (const Flag& flag : flag_table()) {
        if (flag.belongs_to(subcommand) && flag.is_required()) values[flag.name] = {"", "", false};
    }
    return values;
}

/// As it is shown to whoever has written it.
std::string value_text(const toml::node& node) {
    if (node.is_table()) return "a table";
    if (node.is_string()) return "a text with a NUL in it";
    std::ostringstream text;
    if (const auto* array = node.as_array())
        text << *array;
    else
        node.visit([&](const auto& value) {
            if constexpr (toml::is_value<decltype(value)>) text << value.get();
        });
    return one_line(text.str());
}

}  // namespace

RawValues read_config_file(std::string_view subcommand, const RawValue& config,
                           Problems& problems) {
    if (!config.usable) return unreadable(subcommand);
    const std::string& path = config.text;
    const auto text = read_text_file(path);
    if (!text) {
        report(problems, config.origin, text.error().why);
        return unreadable(subcommand);
    }
    toml::table table;
    try {
        table = toml::parse(*text);
    } catch (const toml::parse_error& error) {
        report(problems, path + " line " + std::to_string(error.source().begin.line),
               "it is not TOML: " + std::string(error.description()));
        return unreadable(subcommand);
    }
    RawValues values;
    for (const auto& [toml_key, node] : table) {
        const std::string key(toml_key.str());
        const std::string origin = key + " in " + path;
        if (node.is_table()) {
            report(problems, path + " line " + std::to_string(node.source().begin.line),
                   "a table [" + key + "] has no meaning; expected keys without tables");
            continue;
        }
        if (!is_flag(key) || key == "config") {
            const std::string_view meant = is_flag(key) ? "" : nearest_flag(key);
            report(problems, path + " line " + std::to_string(node.source().begin.line),
                   "unknown key " + in_quotes(key) +
                       (meant.empty() ? "; expected a flag's name without the dashes"
                                      : "; did you mean " + std::string(meant) + "?"));
            continue;
        }
        const Flag* const flag = find_flag(subcommand, key);
        if (flag == nullptr) continue;
        const auto raw = raw_text(node, *flag);
        values[key] = {raw.value_or(""), origin, raw.has_value()};
        if (!raw)
            report(problems, origin,
                   value_text(node) + " can't be its value; expected " +
                       (flag->place.right == nullptr ? "true or false" : flag->place.right()));
    }
    return values;
}

}  // namespace bullring
