#include "sim/commands/diagram.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/diagram/diagram.hpp"
#include "sim/diagram/reader.hpp"
#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

using namespace diagram;

namespace {

struct Wishes {
    std::vector<std::string> traces;
    std::string output;
    std::string from;
    std::string to;
    DiagramOptions options;
};

std::string check_time(const std::string& text) {
    return parse_duration(text) ? "" : "\"" + text + "\" is not a time such as 1.5s or 250ms";
}

std::string read_all(const std::string& name) {
    if (name == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    errno = 0;
    std::ifstream file(name, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) {
        throw DiagramError(fmt::format("cannot read {}: {}", name,
                                       std::generic_category().message(errno == 0 ? EIO : errno)));
    }
    return text;
}

void write_all(const std::string& name, const std::string& text) {
    if (name == "-") {
        std::cout << text << std::flush;
        if (!std::cout) throw DiagramError("stdout can't be written");
        return;
    }
    errno = 0;
    std::ofstream file(name, std::ios::binary | std::ios::trunc);
    file << text << std::flush;
    if (!file) {
        throw DiagramError(fmt::format("cannot write {}: {}", name,
                                       std::generic_category().message(errno == 0 ? EIO : errno)));
    }
}

void complain(const std::string& text) {
    std::fputs(("bullring-sim: " + text + "\n").c_str(), stderr);
}

int run(Wishes wishes) {
    try {
        if (!wishes.from.empty()) wishes.options.from_ns = parse_duration(wishes.from);
        if (!wishes.to.empty()) wishes.options.to_ns = parse_duration(wishes.to);
        TraceReader reader;
        for (const std::string& name : wishes.traces) reader.add_file(read_all(name), name);
        const Drawing drawing = draw(reader.take(), wishes.options);
        for (const std::string& note : drawing.notes) complain(note);
        write_all(wishes.output, drawing.text);
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
    const CLI::Validator time(check_time, "TIME");
    command->add_option("--from", wishes->from, "where the picture begins, from the trace's start")
        ->check(time);
    command->add_option("--to", wishes->to, "where it ends (default: around the elections)")
        ->check(time);
    command->add_option("--title", wishes->options.title, "default: what happens in the picture");
    command->add_flag("--heartbeats", wishes->options.heartbeats,
                      "draw heartbeats, renewals and handshakes as well");
    const std::map<std::string, Theme> themes{
        {"auto", Theme::automatic}, {"light", Theme::light}, {"dark", Theme::dark}};
    command
        ->add_option("--theme", wishes->options.theme,
                     "auto (as the browser prefers), light or dark")
        ->transform(CLI::CheckedTransformer(themes));
    const std::map<std::string, ScaleMode> scales{{"auto", ScaleMode::automatic},
                                                  {"linear", ScaleMode::linear}};
    command
        ->add_option("--scale", wishes->options.scale,
                     "auto (long quiet stretches are folded) or linear")
        ->transform(CLI::CheckedTransformer(scales));
    const std::map<std::string, DiagramFormat> formats{{"svg", DiagramFormat::svg},
                                                       {"shiviz", DiagramFormat::shiviz}};
    command->add_option("--format", wishes->options.format, "svg, or shiviz for that tool's log")
        ->transform(CLI::CheckedTransformer(formats));
    command->callback([wishes, &exit_status] { exit_status = run(*wishes); });
}

}  // namespace bullring::sim
