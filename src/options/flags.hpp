// The one table of flags. The command line, the environment, the configuration file and the help
// are all read off it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bullring {

enum class Subcommand : std::uint16_t {
    node = 1,
    status = 2,
    watch = 4,
    resign = 8,
    run = 16,
    lead = 32,
    audit = 64,
    drill = 128,
    address = 256,
    key = 512,
    cert = 1024,
    doctor = 2048,
};

/// By the names of the variables.
using Environment = std::map<std::string, std::string, std::less<>>;

struct SubcommandText {
    Subcommand subcommand = Subcommand::node;
    const char* name = "";
    const char* summary = "";
    bool takes_command = false;      // after `--`
    const char* operands = nullptr;  // what it takes beside flags, as the usage shows it
};

/// What some subcommands take as their first operand: what is to be done.
struct Action {
    Subcommand subcommand = Subcommand::key;
    const char* name = "";
    const char* operands =
        "";  // that follow it, each a word; the last one may be repeated: "FILE…"
    const char* summary = "";
};

/// What the help tells in the place of a default.
inline constexpr std::string_view required = "required";

struct Flag {
    const char* name = "";           // without dashes; also the key in the file
    const char* argument = nullptr;  // nullptr for a switch
    const char* help = "";
    const char* standard = nullptr;  // the default as the help tells it, if there is one
    unsigned subcommands = 0;        // a mask of Subcommand
    const char* negates = nullptr;   // the switch that this one turns off

    bool is_switch() const { return argument == nullptr; }
    bool is_required() const { return standard != nullptr && standard == required; }
    bool belongs_to(Subcommand subcommand) const {
        return (subcommands & static_cast<unsigned>(subcommand)) != 0;
    }
};

std::span<const SubcommandText> subcommand_table();
std::span<const Flag> flag_table();
std::span<const Action> action_table();
const SubcommandText& text_of(Subcommand subcommand);

/// nullptr when the subcommand has no such flag.
const Flag* find_flag(Subcommand subcommand, std::string_view flag_name);
/// Whether any subcommand has it.
bool is_flag(std::string_view flag_name);
/// BULLRING_SUSPECT_AFTER for suspect-after.
std::string environment_name(std::string_view flag_name);
/// "run and lead": which subcommands have it; empty when none does.
std::string owners_of(std::string_view flag_name);
/// The subcommand of this name, none when there is none.
std::optional<Subcommand> subcommand_named(std::string_view name);
/// The flag of one of these subcommands (a mask) that a wrong name was probably meant to be, empty
/// when none is near.
std::string_view nearest_flag(std::string_view wrong_name, unsigned subcommands = ~0U);

}  // namespace bullring
