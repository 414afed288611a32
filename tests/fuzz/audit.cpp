// Event streams, as `bullring audit` reads them: files of lines, in pieces of any sizes. A file is
// read or refused with a reason, however it is cut; streams of more than one cluster are refused in
// whatever order they come; what is left is judged, and the verdict is JSON.
#include <algorithm>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/values/rng.hpp"
#include "src/base/text/text.hpp"
#include "src/verify/audit/report.hpp"
#include "src/verify/audit/stream_reader.hpp"
#include "src/verify/audit/verdict.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;

namespace {

std::optional<audit::WrongStream> read(audit::History& history, std::string_view text,
                                       std::uint64_t piece_seed) {
    protocol::Rng rng(piece_seed);
    audit::StreamReader reader(history);
    while (!text.empty()) {
        const std::string_view piece =
            text.substr(0, piece_seed == 0 ? text.size() : 1 + rng.below(100));
        text.remove_prefix(piece.size());
        if (auto wrong = reader.read(piece)) return wrong;
    }
    return reader.end();
}

/// A file ends where a byte stands that no line can hold.
std::vector<std::string_view> files_in(std::string_view text) {
    std::vector<std::string_view> files;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\xFF', begin), text.size());
        files.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return files;
}

/// nullopt if one of them is refused.
std::optional<audit::History> history_of(const std::vector<std::string_view>& files,
                                         std::uint64_t piece_seed) {
    audit::History history;
    for (std::size_t file = 0; file < files.size(); ++file) {
        history.open_file(std::to_string(file + 1));
        if (const auto wrong = read(history, files[file], piece_seed)) {
            fuzz::expect(wrong->line > 0 && !wrong->what.empty(), "refused without a reason");
            return std::nullopt;
        }
    }
    if (history.lines() == 0) return std::nullopt;
    history.close();
    return history;
}

/// All files, as one verdict; what is refused has none.
std::string verdict_on(const audit::History& history, protocol::Duration clock_error) {
    if (const auto mixture = history.mixture()) {
        fuzz::expect(*mixture == one_line(*mixture), "a mixture that a terminal would obey");
        return *mixture;
    }
    const audit::Verdict verdict = audit::judge(history, clock_error);
    fuzz::expect(!(verdict.proved() && !verdict.contradictions.empty()), "proved and contradicted");
    for (const audit::Contradiction& one : verdict.contradictions)
        fuzz::expect(!audit::summary(history, one).empty(), "a contradiction without words");
    std::string json = audit::to_json(history, verdict);
    fuzz::expect(nlohmann::json::accept(json), "the verdict is no JSON");
    return json + audit::to_text(history, verdict);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::uint64_t seed = 1 + std::uint64_t{input.number()};
    const protocol::Duration clock_error{input.magnitude()};
    std::vector<std::string_view> files = files_in(input.rest());
    const auto at_once = history_of(files, 0);
    const auto in_pieces = history_of(files, seed);
    std::reverse(files.begin(), files.end());
    const auto reversed = history_of(files, 0);
    fuzz::expect(
        at_once.has_value() == in_pieces.has_value() && at_once.has_value() == reversed.has_value(),
        "the pieces or the order decide whether it is read");
    if (!at_once) return 0;
    fuzz::expect(verdict_on(*at_once, clock_error) == verdict_on(*in_pieces, clock_error),
                 "the pieces make a difference");
    fuzz::expect(at_once->mixture().has_value() == reversed->mixture().has_value(),
                 "the order of the files decides whether they are of one cluster");
    return 0;
}
