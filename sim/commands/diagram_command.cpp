// bullring-sim diagram: traces as a page on which they are looked at.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/commands/commands.hpp"
#include "sim/commands/files.hpp"
#include "sim/commands/picture.hpp"
#include "sim/diagram/viewer_page.hpp"

namespace bullring::sim {

using namespace diagram;

namespace {

struct Wishes {
    std::vector<std::string> traces;
    std::string output;
    std::string from;
    std::string to;
    FirstLook look;
};

int run(const Wishes& wishes) {
    FirstLook look = wishes.look;
    const FirstLook part = part_of_trace(wishes.from, wishes.to);
    look.from_ns = part.from_ns;
    look.to_ns = part.to_ns;
    std::vector<NamedTrace> traces;
    traces.reserve(wishes.traces.size());
    for (const std::string& name : wishes.traces) traces.push_back({name, read_file(name)});
    if (std::all_of(traces.begin(), traces.end(),
                    [](const NamedTrace& trace) { return trace.text.empty(); })) {
        std::fputs("bullring-sim: the trace is empty\n", stderr);
        return 1;
    }
    write_file(wishes.output, viewer_page(traces, look));
    return 0;
}

}  // namespace

void add_diagram_command(CLI::App& app, int& exit_status) {
    const auto wishes = std::make_shared<Wishes>();
    CLI::App* const command = app.add_subcommand(
        "diagram",
        "make a page of traces (of `bullring node --trace` or of this simulator), on "
        "which the elections are drawn and stepped through");
    command->add_option("TRACE", wishes->traces, "files of JSON lines, drawn together; - is stdin")
        ->required();
    command->add_option("-o,--output", wishes->output, "the file to write, as .html; - is stdout")
        ->required()
        ->check(is_page_name());
    command->add_option("--from", wishes->from, "where it begins, from the trace's start");
    command->add_option("--to", wishes->to, "where it ends (default: around the elections)");
    command->add_option("--title", wishes->look.title, "default: what happens there");
    command->add_flag("--heartbeats", wishes->look.heartbeats,
                      "show heartbeats, renewals and handshakes as well");
    command
        ->add_option("--theme", wishes->look.theme, "auto (as the browser prefers), light or dark")
        ->check(CLI::IsMember({"auto", "light", "dark"}));
    command
        ->add_option("--scale", wishes->look.scale,
                     "auto (long quiet stretches are folded) or linear")
        ->check(CLI::IsMember({"auto", "linear"}));
    command->callback([wishes, &exit_status] { exit_status = run(*wishes); });
}

}  // namespace bullring::sim
