// A small cluster in which each next move is the input's choice of all that are possible: what is
// delivered first, which timer, disk or dial comes next, where a process dies or stands still. The
// simulator's exploration (sim/explore) has the rules, and judges each state; a path that breaks
// one is printed as a file for `bullring-sim explore`.
#include "protocol/values/algorithms.hpp"
#include "sim/explore/path_file.hpp"
#include "sim/explore/replay.hpp"
#include "sim/explore/small_world.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;
using namespace bullring::sim::explore;

namespace {

constexpr std::size_t moves_max = 400;

[[noreturn]] void tell(const SmallWorld& world, StartState from, const std::vector<Move>& path,
                       const Violation& violation) {
    const std::string what = violation.rule + ": " + violation.text;
    const WorldState start = world.start(from);
    const Path file{world.options(), from, named_steps(world, start, path)};
    std::fputs(path_text(file, what).c_str(), stderr);
    fuzz::broken(what, std::source_location::current());
}

/// Where the search would begin; settling takes longer than a path.
const WorldState& beginning(const SmallWorld& world, StartState from) {
    struct Known {
        SmallWorldOptions options;
        StartState from;
        WorldState state;
    };
    // Never destroyed: nodes go back to a store of spare ones, which ends before what is static.
    static auto& all = *new std::vector<Known>;
    const SmallWorldOptions& wanted = world.options();
    for (const Known& known : all)
        if (known.from == from && known.options.nodes == wanted.nodes &&
            known.options.algorithm == wanted.algorithm && known.options.preempt == wanted.preempt)
            return known.state;
    return all.emplace_back(Known{wanted, from, world.start(from)}).state;
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
    SmallWorldOptions options;
    options.nodes = input.one_of({3UL, 1UL, 2UL, 4UL, 5UL});
    options.algorithm = input.flag() ? protocol::Algorithm::ring : protocol::Algorithm::bully;
    options.preempt = protocol::algorithm_row(options.algorithm).preempts;
    options.faults = 255;
    const StartState from = input.flag() ? StartState::cold : StartState::settled;
    const SmallWorld world(options);
    WorldState state = beginning(world, from);
    state.faults_left = options.faults;
    std::vector<Move> path;
    std::vector<Move> possible;
    while (!input.empty() && path.size() < moves_max) {
        possible.clear();
        world.moves(state, possible);
        if (possible.empty()) break;
        path.push_back(chosen(input, possible));
        if (const auto violation = world.make(state, path.back()))
            tell(world, from, path, *violation);
    }
    return 0;
}
