#include "sim/commands/picture.hpp"

#include <fstream>

#include <fmt/format.h>

#include "sim/commands/trace_observer.hpp"
#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

namespace {

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw CLI::FileError(path + ": can't be written");
}

std::optional<std::int64_t> time_flag(const char* flag, const std::string& text) {
    if (text.empty()) return std::nullopt;
    const auto value = parse_duration(text);
    if (!value)
        throw CLI::ValidationError(
            flag, fmt::format("'{}': a duration such as 20ms or 1.5s is needed", text));
    return value;
}

}  // namespace

void add_picture_flags(CLI::App& command, PictureFlags& flags) {
    command.add_option("--trace", flags.trace,
                       "write every message as a line of JSON, as `bullring node --trace` does");
    command.add_option("--diagram", flags.diagram, "draw the run as a space-time diagram (SVG)");
    command.add_option("--from", flags.from, "the picture's beginning, such as 1.5s");
    command.add_option("--to", flags.to, "the picture's end");
}

diagram::DiagramOptions diagram_options(const PictureFlags& flags) {
    diagram::DiagramOptions options;
    options.from_ns = time_flag("--from", flags.from);
    options.to_ns = time_flag("--to", flags.to);
    return options;
}

Picture::Picture(const PictureFlags& flags) : flags_(flags) {
    if (!flags.trace.empty() || !flags.diagram.empty())
        observer_ = std::make_unique<TraceObserver>();
}

Picture::~Picture() = default;

void Picture::watch(RunOptions& options) {
    if (observer_) options.observers.push_back(observer_.get());
}

void Picture::finish(const std::string& title) {
    if (!observer_) return;
    if (!flags_.trace.empty()) write_file(flags_.trace, observer_->text());
    if (flags_.diagram.empty()) return;
    diagram::DiagramOptions options = diagram_options(flags_);
    options.title = title;
    write_file(flags_.diagram, diagram::draw(observer_->lines(), options));
}

}  // namespace bullring::sim
