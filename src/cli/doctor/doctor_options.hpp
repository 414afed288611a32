// The options of `bullring doctor`, and of --check of the commands of a member.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/settings/run_options.hpp"

namespace bullring {

/// The part of systemd in a start.
struct ByManager {
    std::vector<std::string> made;           // directories that it makes, or gives to the user
    std::optional<std::uint64_t> tasks_max;  // of the unit's own control group

    /// Whether a path is in one of those that it makes, or is one.
    bool makes(const std::string& path) const {
        return std::any_of(made.begin(), made.end(), [&](const std::string& one) {
            return path == one || path.starts_with(one + "/");
        });
    }
};

/// The subject of `doctor`: what a member's command would be started with.
struct DoctorOptions {
    NodeOptions node;
    Command command;                           // of `run`; of `address`, its addresses
    std::string device;                        // of `address`
    std::vector<std::string> wrong_variables;  // a sentence for each that sets nothing
    bool strict = false;                       // a warning is a failure, too
    bool json = false;
    std::optional<ByManager> by_manager{};  // with a unit

    bool is_made(const std::string& path) const { return by_manager && by_manager->makes(path); }
};

inline constexpr const char* made_by_manager = "systemd makes it, for this user, with the start";

/// The subject of --check of `lead`.
struct LeadSubject {
    std::string data_dir;
    std::optional<std::uint64_t> id;
    std::optional<std::string> cluster;
    Command command;
};

}  // namespace bullring
