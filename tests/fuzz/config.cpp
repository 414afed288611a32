// A configuration file, as `--config FILE` has it read for each of the subcommands. What is wrong
// is said in a way that can be shown; what is accepted for a node has sound timing.
#include <array>
#include <string_view>

#include "protocol/values/timing.hpp"
#include "src/cli/options/sources.hpp"
#include "src/security/checked_security.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/memory_file.hpp"

using namespace bullring;

namespace {

/// Between them they have every key.
constexpr std::array<std::string_view, 12> subcommands{"node",   "run",    "address", "lead",
                                                       "doctor", "status", "watch",   "resign",
                                                       "drill",  "audit",  "key",     "cert"};

void check(const NodeOptions& options) {
    const protocol::Config& config = options.config;
    fuzz::expect(options.peers.contains(config.self), "a node that is no member");
    fuzz::expect(protocol::validate(config.timing, config.members.size(), config.algorithm).empty(),
                 "timing that is not sound");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::MemoryFile file;
    static const Environment environment{{"HOME", "/home/somebody"}};
    fuzz::Input input(data, size);
    const std::string_view subcommand = subcommands[input.below(subcommands.size())];
    file.hold(input.rest());
    Problems problems;
    RawValues values = read_config_file(subcommand, {file.path(), "--config"}, problems);
    fold_negations(values, problems);
    Report report(values, problems);
    const NodeOptions options =
        checked(read_request(subcommand, values, report), environment, {}, report);
    for (const std::string& text : problems)
        fuzz::expect(!text.empty(), "refused without a reason");
    if (problems.empty()) check(options);
    return 0;
}
