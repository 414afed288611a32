// bullring-sim messages: what one failover costs in messages, counted beside theory.
#include <array>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "sim/commands/commands.hpp"
#include "sim/commands/files.hpp"
#include "sim/complexity/chart.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

constexpr std::array colors{"#c2410c", "#0369a1", "#4d7c0f"};

struct MessagesFlags {
    std::size_t from = 3;
    std::size_t to = 32;
    std::uint64_t seeds = 60;
    std::string quorum = "majority";
    std::string chart;
};

int count_messages(const MessagesFlags& flags) {
    if (flags.from > flags.to)
        throw CLI::ValidationError("--from",
                                   fmt::format("{} is above --to {}", flags.from, flags.to));
    check_writable(flags.chart);
    const QuorumMode quorum = named<QuorumMode>(flags.quorum).value_or(QuorumMode::majority);
    std::vector<Curve> curves;
    for (const AlgorithmRow& row : algorithm_table) {
        const FailoverMessages& theory = formulas(row.algorithm, quorum);
        fmt::print(
            "{}, quorum {}: messages of one failover (heartbeats not counted)\n"
            "{:>5} {:>10} {:>10} {:>12} {:>12}\n{:>5} {:>10} {:>10} {:>12} {:>12}\n",
            row.title, flags.quorum, "N", "best", "theory", "worst seen", "theory", "", "",
            theory.best.text, "", theory.worst.text);
        const char* const color = colors[curves.size() / 2 % colors.size()];
        Curve best{fmt::format("{} best", row.title), color, false, {}};
        Curve worst{fmt::format("{} worst seen", row.title), color, true, {}};
        for (std::size_t nodes = flags.from; nodes <= flags.to; ++nodes) {
            const Complexity found = measure(row.algorithm, quorum, nodes, flags.seeds);
            fmt::print("{:>5} {:>10} {:>10} {:>12} {:>12}\n", nodes, found.best, found.best_formula,
                       found.worst, found.worst_formula);
            std::fflush(stdout);
            best.points.emplace_back(nodes, found.best);
            worst.points.emplace_back(nodes, found.worst);
        }
        curves.push_back(best);
        curves.push_back(worst);
    }
    fmt::print(
        "The theory of the worst case is of one round in which everybody stands; with delays of\n"
        "up to 12 ms, as here, a candidacy can also fail and be repeated.\n");
    if (flags.chart.empty()) return 0;
    write_file(flags.chart, chart_svg("Messages of one failover, quorum " + flags.quorum, curves));
    return 0;
}

}  // namespace

void add_messages_command(CLI::App& app, int& exit_status) {
    CLI::App* command =
        app.add_subcommand("messages", "count the messages of a failover beside theory");
    auto flags = std::make_shared<MessagesFlags>();
    command->add_option("--from", flags->from, "nodes, the least")->check(CLI::Range(3, 64));
    command->add_option("--to", flags->to, "nodes, the most")->check(CLI::Range(3, 64));
    command->add_option("--seeds", flags->seeds, "runs for the worst case")
        ->check(CLI::Range(1, 100000));
    command->add_option("--quorum", flags->quorum, "majority, or none: the textbook")
        ->check(is_name_of<QuorumMode>());
    command->add_option("--chart", flags->chart, "write a chart there (SVG)");
    command->callback([flags, &exit_status] { exit_status = count_messages(*flags); });
}

}  // namespace bullring::sim
