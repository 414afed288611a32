// bullring-sim diagram: pictures of traces.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/commands/commands.hpp"
#include "sim/commands/files.hpp"
#include "sim/commands/picture.hpp"
#include "sim/diagram/diagram.hpp"
#include "sim/diagram/trace_reader.hpp"

namespace bullring::sim {

using namespace diagram;

namespace {

struct Wishes {
    std::vector<std::string> traces;
    std::string output;
    std::string from;
    std::string to;
    std::string theme = "auto";
    std::string scale = "auto";
    std::string format = "svg";
    std::string title;
    bool heartbeats = false;
};

void complain(const std::string& text) {
    std::fputs(("bullring-sim: " + text + "\n").c_str(), stderr);
}

DiagramOptions options_of(const Wishes& wishes) {
    DiagramOptions options = part_of_trace(wishes.from, wishes.to);
    options.title = wishes.title;
    options.heartbeats = wishes.heartbeats;
    options.theme = protocol::named<Theme>(wishes.theme).value_or(options.theme);
    options.scale = protocol::named<ScaleMode>(wishes.scale).value_or(options.scale);
    options.format = protocol::named<DiagramFormat>(wishes.format).value_or(options.format);
    return options;
}

int run(const Wishes& wishes) {
    const DiagramOptions options = options_of(wishes);
    try {
        TraceReader reader;
        for (const std::string& name : wishes.traces) reader.add_file(read_file(name), name);
        const Drawing drawing = draw(reader.take(), options);
        for (const std::string& note : drawing.notes) complain(note);
        write_file(wishes.output, drawing.text);
        return 0;
    } catch (const DiagramError& error) {
        complain(error.what());
        return 1;
    }
}

}  // namespace

void add_diagram_command(CLI::App& app, int& exit_status) {
    const auto wishes = std::make_shared<Wishes>();
    CLI::App* const command = app.add_subcommand(
        "diagram", "draw traces (of `bullring node --trace` or of this simulator) as a picture");
    command->add_option("TRACE", wishes->traces, "files of JSON lines, drawn together; - is stdin")
        ->required();
    command->add_option("-o,--output", wishes->output, "the file to write; - is stdout")
        ->required();
    command->add_option("--from", wishes->from, "where the picture begins, from the trace's start");
    command->add_option("--to", wishes->to, "where it ends (default: around the elections)");
    command->add_option("--title", wishes->title, "default: what happens in the picture");
    command->add_flag("--heartbeats", wishes->heartbeats,
                      "draw heartbeats, renewals and handshakes as well");
    command->add_option("--theme", wishes->theme, "auto (as the browser prefers), light or dark")
        ->check(is_name_of<Theme>());
    command
        ->add_option("--scale", wishes->scale, "auto (long quiet stretches are folded) or linear")
        ->check(is_name_of<ScaleMode>());
    command->add_option("--format", wishes->format, "svg, or shiviz for that tool's log")
        ->check(is_name_of<DiagramFormat>());
    command->callback([wishes, &exit_status] { exit_status = run(*wishes); });
}

}  // namespace bullring::sim
