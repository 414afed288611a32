// The one table of settings: a row has a setting's name, which is its flag, its key in the file and
// its name in the library; who has it; its help; its range; and its place in the request, whose
// type says how it is read and whose default the help tells.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "src/settings/raw_values.hpp"

namespace bullring {

struct Request;
class Report;

/// The bounds of a number, or of a time in nanoseconds.
struct Range {
    std::int64_t low = 0;
    std::int64_t high = std::numeric_limits<std::int64_t>::max();
    bool or_off = false;  // a time that `off` makes zero
};

/// A text that is on its way to its value.
struct Text {
    std::string_view flag;
    const Range& range;
    std::string text;
    Report& report;

    /// False.
    bool refuse(const std::string& why) const;
};

/// Where a value goes: made by the type of its place.
struct Place {
    void (*read)(Request& request, const RawValue& value, Text text) = nullptr;
    std::string (*standard)() = nullptr;
    std::string (*right)() = nullptr;  // what it can be, for people: "a whole number"
    bool on_or_off = true;             // may mean something to it
};

/// Those that have a setting: names of subcommands, with blanks between them.
using Owners = std::array<std::string_view, 4>;
/// Two that are no names.
inline constexpr std::string_view any_subcommand = "*";
inline constexpr std::string_view library = "library";

struct Flag {
    const char* name = "";           // without dashes
    const char* argument = nullptr;  // nullptr for a switch
    const char* help = "";
    Owners owners{};
    Place place{};
    const char* standard = nullptr;  // words for the default where no value says it
    Range range{};
    const char* negates = nullptr;  // the switch that this one turns off

    bool is_switch() const { return argument == nullptr; }
    bool is_required() const {
        return standard != nullptr && std::string_view(standard).starts_with("required");
    }
    bool belongs_to(std::string_view owner) const;
    /// As the help tells it; empty when there is none.
    std::string default_text() const;
};

/// All rows: the flags, and behind them the settings of the library alone.
std::span<const Flag> setting_table();
/// The flags.
std::span<const Flag> flag_table();

/// Makes `no-preempt` the opposite of `preempt`; both in one source exclude each other.
void fold_negations(RawValues& values, Problems& problems);

/// nullptr when the owner has no such setting.
const Flag* find_flag(std::string_view owner, std::string_view name);
/// Whether any subcommand has it.
bool is_flag(std::string_view flag_name);
/// BULLRING_SUSPECT_AFTER for suspect-after.
std::string environment_name(std::string_view flag_name);
/// The setting of this owner, or of anybody, that a wrong name was probably meant to be; empty when
/// none is near.
std::string_view nearest_flag(std::string_view wrong_name, std::string_view owner = {});

}  // namespace bullring
