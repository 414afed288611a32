// How a text becomes a value: by the type of its place in the request, or by the reader that its
// row names. For the table of flags alone.
#pragma once

#include <string>
#include <type_traits>

#include "protocol/values/names.hpp"
#include "src/base/text/text.hpp"
#include "src/settings/flags.hpp"
#include "src/settings/request.hpp"

namespace bullring {

// By type. False when the text can't be used, which has been reported; `into` is then as it was.
bool take(const Text& text, std::string& into);
bool take(const Text& text, bool& into);
bool take(const Text& text, std::int64_t& into);
bool take(const Text& text, protocol::NodeId& into);
bool take(const Text& text, protocol::Priority& into);
bool take(const Text& text, protocol::Duration& into);
bool take(const Text& text, Endpoint& into);
/// Their sound entries are taken in any case.
bool take(const Text& text, std::vector<Endpoint>& into);
bool take(const Text& text, PeerList& into);
template <class Enum>
requires std::is_enum_v<Enum>
bool take(const Text& text, Enum& into) {
    const auto found = protocol::named<Enum>(in_small_letters(text.text));
    if (!found) return text.refuse("is not one of " + protocol::all_names<Enum>());
    into = *found;
    return true;
}

// By name.
/// Others are taken with the blanks around them.
bool one_word(const Text& text, std::string& into);
/// 1 … 64 bytes that are fit for a directory's name.
bool cluster_name(const Text& text, std::string& into);
/// Or `hostname`. A member of the list is named by its number alone.
bool own_id(const Text& text, protocol::NodeId& into);
// One file serves all subcommands: a time by which `lead` waits makes `status` wait, and "off" is
// no time at all. The command line of `status` has nothing but the switch.
bool switch_or_time(const Text& text, bool& into);
/// "0" without a unit, too.
bool time_or_0(const Text& text, protocol::Duration& into);
bool time_or_off(const Text& text, protocol::Duration& into);

/// Takes the blanks away, for a value that can't have any: a file of variables with the line ends
/// of another system leaves one. False for quotes that no shell took, which are reported.
bool take_blanks_away(Text& text);

template <class Value>
std::string text_of_default(const Value& value) {
    if constexpr (std::is_enum_v<Value>)
        return name(value);
    else if constexpr (std::is_same_v<Value, bool>)
        return value ? "on" : "off";
    else if constexpr (std::is_same_v<Value, std::string>)
        return value.empty() ? "none" : value;
    else if constexpr (std::is_same_v<Value, std::int64_t>)
        return std::to_string(value);
    else if constexpr (std::is_same_v<Value, protocol::Priority>)
        return std::to_string(value.value);
    else if constexpr (std::is_same_v<Value, protocol::Duration>)
        return to_text(value);
    else
        return "none";
}

template <class Value>
inline constexpr bool may_be_off = std::is_enum_v<Value> || std::is_same_v<Value, bool> ||
                                   std::is_same_v<Value, protocol::Duration>;

template <class Value>
std::string right_for() {
    if constexpr (std::is_enum_v<Value>)
        return "one of " + protocol::all_names<Value>();
    else if constexpr (std::is_same_v<Value, bool>)
        return "true or false";
    else if constexpr (std::is_same_v<Value, std::int64_t> ||
                       std::is_same_v<Value, protocol::NodeId>)
        return "a whole number";
    else if constexpr (std::is_same_v<Value, protocol::Priority>)
        return "a whole number, or \"never\"";
    else if constexpr (std::is_same_v<Value, protocol::Duration>)
        return "a time with its unit, in quotes: \"50ms\"";
    else if constexpr (std::is_same_v<Value, std::string> || std::is_same_v<Value, Endpoint>)
        return "a text in quotes";
    else
        return "a text in quotes, or an array of them";
}

template <auto field, auto reader = nullptr>
void read_into(Request& request, const RawValue& value, Text text) {
    constexpr bool by_type = std::is_null_pointer_v<decltype(reader)>;
    auto& asked = request.*field;
    constexpr bool as_it_is = by_type && std::is_same_v<decltype(asked.value), std::string>;
    asked.given = true;
    asked.unusable = !value.usable || (!as_it_is && !take_blanks_away(text));
    if (asked.unusable) return;
    if constexpr (by_type)
        asked.unusable = !take(text, asked.value);
    else
        asked.unusable = !reader(text, asked.value);
}

template <auto field>
std::string default_of() {
    return text_of_default((Request().*field).value);
}

template <auto field>
std::string right_of() {
    return right_for<decltype((Request().*field).value)>();
}

template <auto field, auto reader = nullptr>
inline constexpr Place into{&read_into<field, reader>, &default_of<field>, &right_of<field>,
                            may_be_off<decltype((Request().*field).value)>};

}  // namespace bullring
