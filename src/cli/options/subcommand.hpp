// A subcommand: a row with its name and its body, which reads its options out of what is
// given and says what is to be done with them. The rows are in src/cli/commands/subcommands.cpp.
#pragma once

#include <any>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/settings/raw_values.hpp"
#include "src/settings/request.hpp"

namespace bullring {

struct Subcommand;

/// The words and values that a subcommand has been given.
struct Given {
    const Subcommand& subcommand;
    const Request& request;
    const std::vector<std::string>& operands;
    const Command& command;
    const Environment& environment;
    Report& report;  // of what is wrong with it
};

/// The work that is to be done, with its options.
class Work {
public:
    template <class Options>
    Work(Options options, int (*work)(const Options&))
        : options_(std::move(options)),
          work_([work](const std::any& any) { return work(*std::any_cast<Options>(&any)); }) {}

    /// To its end. The exit status.
    int run() const { return work_(options_); }
    /// nullptr when they are of another kind.
    template <class Options>
    const Options* options() const {
        return std::any_cast<Options>(&options_);
    }

private:
    std::any options_;
    std::function<int(const std::any&)> work_;
};

/// The first operand of some subcommands: what is to be done.
struct Action {
    const char* name = "";
    const char* operands = "";  // that follow it, each a word; the last may be repeated: "FILE…"
    const char* summary = "";
};

struct Subcommand {
    const char* name = "";
    const char* summary = "";
    /// Its work counts only if nothing was reported.
    Work (*body)(const Given& given) = nullptr;
    bool takes_command = false;      // after `--`
    const char* operands = nullptr;  // what it takes beside flags, as the usage shows it
    std::span<const Action> actions{};
};

std::span<const Subcommand> subcommand_table();
/// nullptr when there is none of this name.
const Subcommand* find_subcommand(std::string_view name);

}  // namespace bullring
