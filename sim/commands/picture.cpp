#include "sim/commands/picture.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "sim/commands/files.hpp"
#include "sim/commands/trace_observer.hpp"
#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

namespace {

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

diagram::DiagramOptions part_of_trace(const std::string& from, const std::string& to) {
    diagram::DiagramOptions options;
    options.from_ns = time_flag("--from", from);
    options.to_ns = time_flag("--to", to);
    if (options.from_ns && options.to_ns && *options.from_ns >= *options.to_ns)
        throw CLI::ValidationError("--to",
                                   fmt::format("'{}': later than --from {} is needed", to, from));
    return options;
}

Picture::Picture(const PictureFlags& flags) : flags_(flags) {
    check_writable(flags.trace);
    check_writable(flags.diagram);
    options_ = part_of_trace(flags.from, flags.to);
    const bool wants_part = options_.from_ns || options_.to_ns;
    if (wants_part && flags.diagram.empty())
        throw CLI::ValidationError("--from, --to", "go with --diagram FILE");
    if (!flags.trace.empty() || !flags.diagram.empty())
        observer_ = std::make_unique<TraceObserver>();
}

Picture::~Picture() = default;

void Picture::watch(RunOptions& options) {
    if (observer_) options.observers.push_back(observer_.get());
}

void Picture::finish(const std::string& title, const Outcome& outcome) {
    if (!observer_) return;
    if (!flags_.trace.empty()) write_file(flags_.trace, observer_->text());
    if (flags_.diagram.empty()) return;
    diagram::DiagramOptions options = options_;
    options.title = title;
    if (!options.from_ns && !options.to_ns) {
        // A picture's time begins with the first line of its trace.
        if (outcome.picture_begins) options.from_ns = *outcome.picture_begins - observer_->began();
        if (outcome.picture_ends) options.to_ns = *outcome.picture_ends - observer_->began();
    }
    if (options.from_ns && options.to_ns && *options.from_ns >= *options.to_ns)
        throw CLI::ValidationError("--diagram", "the scenario's picture ends where it begins");
    const diagram::Drawing drawing = diagram::draw(observer_->lines(), options);
    for (const std::string& note : drawing.notes) fmt::print(stderr, "bullring-sim: {}\n", note);
    write_file(flags_.diagram, drawing.text);
}

}  // namespace bullring::sim
