// Owns: a start by systemd: whose process it would be, with which words and variables, what systemd
// does for it before. Starts nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <grp.h>
#include <sys/types.h>

#include "src/cli/doctor/doctor_options.hpp"
#include "src/cli/doctor/findings.hpp"
#include "src/cli/doctor/unit_file.hpp"

namespace bullring::doctor {

struct UnitUser {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
};

struct UnitStart {
    std::string program;
    std::vector<std::string> arguments;
    Environment variables;
    UnitUser user;
    std::vector<std::string> directories;  // that the unit names: its user may write there
    ByManager by_manager;
};

/// The subcommand that a unit starts: node, run or address. The error says what it starts instead.
tl::expected<std::string, std::string> subcommand_of(const UnitFile& unit);

/// Tells what is wrong with the unit itself. None: systemd would not start it.
std::optional<UnitStart> start_of(const UnitFile& unit, Findings& findings);

}  // namespace bullring::doctor
