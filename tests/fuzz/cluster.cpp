// A whole cluster in the simulator's world: how it is configured and what happens to it when is the
// input's choice (crashes, hangs, suspended machines, cuts, resets, clocks within what is assumed
// of them, disks, tasks, health, users). The simulator's ledger judges every step (I1–I13, L2, L3,
// L5), and if the input asks for it, a leader is required when all is mended (L1). What breaks a
// rule is printed as a scenario for `bullring-sim scenario`.
#include "protocol/values/assert.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"
#include "sim/swarm/swarm.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;
using namespace bullring::sim;
using protocol::Algorithm;
using protocol::Profile;

namespace {

constexpr std::size_t commands_max = 40;
constexpr Time time_max = 5 * sec;

class Writer {
public:
    explicit Writer(fuzz::Input& input) : input_(input) {}

    Scenario scenario();

private:
    Settings settings();
    Command& add(Verb verb);
    void add_one(Scenario& scenario);
    Target member() {
        const std::size_t which = input_.number();
        const auto& ids = scenario_.settings.ids;
        if (which >= 224) return {Target::Kind::highest, {}};
        if (which >= 160) return {Target::Kind::leader, {}};
        return {Target::Kind::id, ids[which % ids.size()]};
    }
    /// Nothing, some of the profile's times, or any.
    Time wait() {
        const Time any = input_.magnitude() % sec;
        return input_.flag() ? any : input_.one_of({Time{0}, ms, 20 * ms, 100 * ms, 300 * ms});
    }
    void fault();
    void rates(Command& command);

    fuzz::Input& input_;
    Scenario scenario_;
    bool boottime_is_wrong_ = false;
    bool second_ = false;
};

Settings Writer::settings() {
    Settings s;
    const std::size_t members = input_.one_of({3UL, 3UL, 5UL, 2UL, 4UL, 1UL});
    s.ids.clear();
    for (std::uint64_t id = 1; id <= members; ++id) s.ids.push_back({id});
    s.algorithm = input_.flag() ? Algorithm::ring : Algorithm::bully;
    s.profile = input_.flag() ? Profile::fast : Profile::lan;
    s.seed = input_.number<std::uint16_t>();
    protocol::TimingRequest request;
    request.profile = s.profile;
    const protocol::Timing timing = protocol::make_timing(request, members, s.algorithm);
    const Time longest = timing.round_trip.ns / 2;
    s.delay = input_.one_of<Range>({{0, 0}, {0, longest}, {longest / 2, longest}});
    s.loss_ppm = input_.one_of<std::uint32_t>({0, 0, 0, 20'000});
    s.fsync = input_.one_of<Range>({{0, 0}, {500 * us, 2 * ms}, {ms, 30 * ms}});
    s.rho_ppm = input_.one_of<std::uint32_t>({1000, 1000, 10'000});
    s.drift_ppm = s.rho_ppm;
    s.unread_max = s.outbox_max = input_.one_of<std::uint64_t>({64, 8, 2});
    s.preempt_delay = protocol::milliseconds(100 + 10 * std::int64_t{input_.number()});
    s.hand_over_hold_off = protocol::milliseconds(300);
    s.bootstrap_wait = protocol::milliseconds(500);
    s.lease_max = timing.lease * input_.one_of({2L, 4L});
    s.fast_release = input_.one_of({protocol::FastRelease::fin, protocol::FastRelease::fin,
                                    protocol::FastRelease::notice, protocol::FastRelease::off});
    s.tie = !(input_.below(8) == 1);
    s.hooks = !s.tie && input_.flag();
    s.task_ending = input_.one_of<Range>({{0, 0}, {0, 5 * ms}, {0, timing.lease.ns}});
    const std::size_t extra = input_.below(16);
    const NodeId one = s.ids[input_.below(members)];
    if (extra == 1) s.priorities[one] = protocol::Priority{5};
    if (extra == 2 && members > 2) s.priorities[one] = protocol::Priority::never();
    if (extra == 3) s.leases[one] = timing.lease * 2;
    if (extra == 4) s.wall_clocks[one] = timing.lease / 2;
    if (extra == 5) s.heartbeats[one] = timing.heartbeat * 2;
    return s;
}

Command& Writer::add(Verb verb) {
    Command& command = scenario_.commands.emplace_back();
    command.relative = true;
    command.verb = verb;
    return command;
}

/// One of the two clocks of all nodes may be wrong by a lot, always the same: a lease needs only
/// one that is right (A2).
void Writer::rates(Command& command) {
    const auto within = static_cast<std::int64_t>(scenario_.settings.rho_ppm);
    const auto right = [&] { return input_.one_of({-within, Time{0}, within}); };
    command.number = right();
    command.number2 = right();
    if (input_.flag())
        (boottime_is_wrong_ ? command.number : command.number2) =
            input_.one_of({-200'000L, -80'000L, 80'000L, 200'000L});
}

void Writer::fault() {
    constexpr Verb verbs[] = {
        Verb::start,  Verb::start,   Verb::crash,     Verb::crash,  Verb::pause,
        Verb::resume, Verb::cut,     Verb::isolate,   Verb::heal,   Verb::reset,
        Verb::forget, Verb::flip,    Verb::resign,    Verb::health, Verb::task,
        Verb::stall,  Verb::stop,    Verb::power_off, Verb::disk,   Verb::rates,
        Verb::slow,   Verb::suspend, Verb::second,    Verb::wait,   Verb::forge_fin};
    const Verb verb = input_.one_of(verbs);
    // Where a FIN releases, there must be nobody who can forge it (A5).
    if (verb == Verb::forge_fin && scenario_.settings.fast_release == protocol::FastRelease::fin)
        return;
    if (verb == Verb::suspend && boottime_is_wrong_) return;
    if (verb == Verb::second &&
        (scenario_.settings.ids.size() == 1 || std::exchange(second_, true)))
        return;
    Command& command = add(verb);
    command.at = wait();
    command.a = member();
    switch (verb) {
        case Verb::start:
        case Verb::resume:
            if (input_.flag()) command.a = {Target::Kind::all, {}};
            break;
        case Verb::crash:
            if (input_.below(4) == 1) command.word = "reset";
            [[fallthrough]];
        case Verb::pause:
            if (command.word.empty() && input_.below(4) == 1)
                command.number = static_cast<std::int64_t>(1 + input_.below(6));
            break;
        case Verb::heal:
            if (input_.flag()) command.a = {Target::Kind::all, {}};
            [[fallthrough]];
        case Verb::cut:
        case Verb::reset:
        case Verb::forget:
        case Verb::forge_fin:
        case Verb::flip:
            command.b = member();
            command.word = verb == Verb::cut && input_.flag() ? ">" : "-";
            break;
        case Verb::resign:
            if (input_.flag()) command.b = member();
            break;
        case Verb::health: command.word = input_.flag() ? "bad" : "good"; break;
        case Verb::task: command.word = input_.one_of({"ends", "fails", "hangs", "returns"}); break;
        case Verb::disk:
            // A disk is lost, torn or replaced only while its process does not run.
            command.word = input_.one_of({"slow", "failing", "good", "lost", "torn"});
            if (command.word == "slow") command.duration = wait();
            break;
        case Verb::rates: rates(command); break;
        case Verb::slow: command.duration = input_.flag() ? 0 : wait() / 100; break;
        case Verb::wait: command.duration = wait(); break;
        default: break;
    }
}

Scenario Writer::scenario() {
    scenario_.about = {"found by the fuzz target cluster"};
    const bool afterwards = input_.flag();
    boottime_is_wrong_ = input_.flag();
    scenario_.settings = settings();
    if (!problems(scenario_.settings).empty()) return {};
    add(Verb::start).a = {Target::Kind::all, {}};
    Time begun = 0;
    while (!input_.empty() && scenario_.commands.size() < commands_max && begun < time_max) {
        const std::size_t before = scenario_.commands.size();
        fault();
        if (scenario_.commands.size() > before) begun += scenario_.commands.back().at;
    }
    if (!afterwards) return scenario_;
    add(Verb::calm);
    // A node that was asked to stop before ends after its task, and is started again.
    Command& start = add(Verb::start);
    start.at = scenario_.settings.task_ending.max + 3 * sec;  // the longest step-down
    start.a = {Target::Kind::all, {}};
    add(Verb::expect_leader).duration = leader_bound(scenario_.settings);
    return scenario_;
}

const Scenario* now_playing = nullptr;

void print_scenario(const char* condition, const char* file, int line) {
    if (now_playing == nullptr) return;
    std::fprintf(stderr, "%s:%d: %s does not hold\n%s", file, line, condition,
                 to_text(*now_playing).c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    protocol::set_assert_handler(print_scenario);
    fuzz::Input input(data, size);
    const Scenario scenario = Writer(input).scenario();
    if (scenario.commands.empty()) return 0;
    now_playing = &scenario;
    const Outcome outcome = run(scenario);
    now_playing = nullptr;
    if (!outcome.violation) return 0;
    std::fputs(to_text(scenario).c_str(), stderr);
    fuzz::broken(outcome.violation->check + ": " + outcome.violation->what,
                 std::source_location::current());
}
