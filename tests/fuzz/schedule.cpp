// A small cluster in which each next move is the input's choice of all that are possible: what is
// delivered first, which timer, disk or dial comes next, where a process dies or stands still. The
// simulator's exploration (sim/explore) has the rules, and judges each state; a path that breaks
// one is printed as a file for `bullring-sim scenario`.
#include "sim/scenario/path_scenario.hpp"
#include "sim/scenario/scenario_text.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;
using namespace bullring::sim;
using namespace bullring::sim::explore;

namespace {

constexpr std::size_t moves_max = 400;

[[noreturn]] void tell(const SmallWorld& start, const std::vector<Move>& path,
                       const Violation& violation) {
    const std::string what = violation.check + ": " + violation.what;
    std::fputs(to_text(path_scenario(start, path, violation)).c_str(), stderr);
    fuzz::broken(what, std::source_location::current());
}

/// Where the search would begin; settling takes longer than a path.
const SmallWorld& beginning(const Settings& settings) {
    constexpr unsigned faults = 255;
    static std::vector<std::unique_ptr<const SmallWorld>> all;
    for (const auto& known : all)
        if (known->world.settings() == settings) return *known;
    return *all.emplace_back(
        std::make_unique<const SmallWorld>(settings, FaultKinds::usual(), faults));
}

/// The moves that happen by themselves come first; there are more faults to choose from, and fewer
/// happen.
Move chosen(fuzz::Input& input, const std::vector<Move>& possible) {
    constexpr std::size_t fault_from = 208;
    const std::size_t choice = input.number();
    const auto faults = std::find_if(possible.begin(), possible.end(),
                                     [](const Move& move) { return is_fault(move.kind); });
    const auto usual = static_cast<std::size_t>(faults - possible.begin());
    const bool is_usual = usual == possible.size() || (usual > 0 && choice < fault_from);
    if (is_usual) return possible[choice % usual];
    return possible[usual + input.below(std::min<std::size_t>(possible.size() - usual, 256))];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool caught = (catch_broken_assertions(), true);
    fuzz::expect(caught, "assertions end the process");
    fuzz::Input input(data, size);
    Settings settings;
    settings.ids.resize(input.one_of({3UL, 1UL, 2UL, 4UL, 5UL}));
    for (std::size_t i = 0; i < settings.ids.size(); ++i) settings.ids[i] = {i + 1};
    settings.algorithm = input.flag() ? protocol::Algorithm::ring : protocol::Algorithm::bully;
    settings.by_hand = input.flag() ? Begin::cold : Begin::settled;
    settings.delay = {0, 2 * ms};
    settings.first_epoch = protocol::FirstEpoch::zero;
    const SmallWorld& start = beginning(settings);
    SmallWorld small = start;
    std::vector<Move> path;
    std::vector<Move> possible;
    while (!input.empty() && path.size() < moves_max) {
        small.find_moves(possible);
        if (possible.empty()) break;
        path.push_back(chosen(input, possible));
        small.make(path.back());
        if (small.checks.violation()) tell(start, path, *small.checks.violation());
    }
    return 0;
}
