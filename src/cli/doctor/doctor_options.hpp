// The options of `bullring doctor`, and of --check of the commands of a member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/settings/run_options.hpp"

namespace bullring {

/// The subject of `doctor`: what a member's command would be started with.
struct DoctorOptions {
    NodeOptions node;
    Command command;                           // of `run`; of `address`, its addresses
    std::string device;                        // of `address`
    std::vector<std::string> wrong_variables;  // a sentence for each that sets nothing
    bool strict = false;                       // a warning is a failure, too
    bool json = false;
};

/// The subject of --check of `lead`.
struct LeadSubject {
    std::string data_dir;
    std::optional<std::uint64_t> id;
    std::optional<std::string> cluster;
    Command command;
};

}  // namespace bullring
