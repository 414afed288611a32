// Parsing as the tests want it: words in, options or problems out.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "src/cli/commands/command_options.hpp"
#include "src/cli/options/options.hpp"

namespace bullring::test {

using Words = std::vector<std::string>;

inline const Environment home_only{{"HOME", "/home/someone"}};
inline constexpr const char* three_peers = "1=a:7100,2=b:7100,3=c:7100";

inline Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// Node 2 of three, and `more`.
inline Words node_words(const Words& more = {}) {
    return with({"node", "--id", "2", "--peers", three_peers}, more);
}

/// These tests are not about security unless they say so: their hosts are on no loopback.
inline Environment without_security(Environment environment) {
    environment.emplace("BULLRING_SECURITY", "none");
    return environment;
}

inline std::vector<std::string> problems_of(const Words& words,
                                            const Environment& environment = home_only) {
    const ParsedOptions parsed = parse_options(words, without_security(environment));
    const auto* wrong = std::get_if<UsageProblems>(&parsed);
    return wrong == nullptr ? std::vector<std::string>{} : wrong->problems;
}

/// nullptr when they are others, or there are none.
template <class Options>
const Options* found_options(const ParsedOptions& parsed) {
    const auto* work = std::get_if<Work>(&parsed);
    return work == nullptr ? nullptr : work->options<Options>();
}

/// The test fails, and tells the problems, when the words are not sound.
template <class Options>
Options options_of(const Words& words, const Environment& environment = home_only) {
    const ParsedOptions parsed = parse_options(words, without_security(environment));
    const auto* options = found_options<Options>(parsed);
    REQUIRE(problems_of(words, environment) == std::vector<std::string>{});
    REQUIRE(options != nullptr);
    Options found = *options;
    // The note that without_security() has added.
    const auto forget = [](std::vector<std::string>& notes) {
        std::erase_if(notes, [](const auto& note) { return note.starts_with("security none"); });
    };
    if constexpr (requires { found.start_notes; }) forget(found.start_notes);
    if constexpr (requires { found.node.start_notes; }) forget(found.node.start_notes);
    return found;
}

inline bool one_has(const std::vector<std::string>& lines, std::string_view part) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

}  // namespace bullring::test
