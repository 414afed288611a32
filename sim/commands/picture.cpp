#include "sim/commands/picture.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "protocol/trace/trace_recorder.hpp"
#include "sim/commands/files.hpp"
#include "sim/scenario/duration_text.hpp"
#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

/// Writes down what the nodes of a world say, and what happens to them, as trace lines.
class TraceObserver : public Observer {
public:
    const std::string& text() const { return text_; }
    /// When the first of them was written; 0 if there is none.
    Time began() const { return began_.value_or(0); }

    void before_step(const World& world, HostIndex h, Instant now, const Event& event) override {
        note_begin(world);
        recorder(world, h).on_event({now, world.now()}, event, text_);
    }
    void on_action(const World& world, HostIndex h, Instant now, const Action& action) override {
        note_begin(world);
        recorder(world, h).on_action({now, world.now()}, action, text_);
    }
    void on_incident(const World& world, const Incident& incident) override {
        if (incident.kind == move_incident) return;
        note_begin(world);
        const Host& host = world.host(incident.host);
        const TraceTime time{world.clock(incident.host), world.now()};
        if (incident.kind == "start")
            return recorder(world, incident.host)
                .on_start(time, world.config(incident.host), text_);
        TraceMark mark;
        mark.time = time;
        mark.node = host.id;
        mark.incarnation = host.incarnation;
        mark.kind = incident.kind;
        if (incident.has_peer) mark.peer = world.host(incident.peer).id;
        append_trace_event(text_, mark);
    }

private:
    void note_begin(const World& world) {
        if (!began_) began_ = world.now();
    }
    TraceRecorder& recorder(const World& world, HostIndex h) {
        const Host& host = world.host(h);
        while (recorders_.size() <= h)
            recorders_.emplace_back(Incarnation{}, TraceRecorder(nobody, Incarnation{}));
        if (recorders_[h].first != host.incarnation)
            recorders_[h] = {host.incarnation, TraceRecorder(host.id, host.incarnation)};
        return recorders_[h].second;
    }

    std::vector<std::pair<Incarnation, TraceRecorder>> recorders_;  // by host
    std::string text_;
    std::optional<Time> began_;
};

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
    command
        .add_option("--diagram", flags.diagram, "a page on which the run is looked at, as .html")
        ->check(is_page_name());
    command.add_option("--from", flags.from, "where the page begins, such as 1.5s");
    command.add_option("--to", flags.to, "where it ends");
}

CLI::Validator is_page_name() {
    return {[](const std::string& file) {
                return file.ends_with(".svg")
                           ? "'" + file + "': it is a page of HTML, which saves its drawing as SVG"
                           : std::string();
            },
            "", "page"};
}

diagram::FirstLook part_of_trace(const std::string& from, const std::string& to) {
    diagram::FirstLook look;
    look.from_ns = time_flag("--from", from);
    look.to_ns = time_flag("--to", to);
    if (look.from_ns && look.to_ns && *look.from_ns >= *look.to_ns)
        throw CLI::ValidationError("--to",
                                   fmt::format("'{}': later than --from {} is needed", to, from));
    return look;
}

Picture::Picture(const PictureFlags& flags) : flags_(flags) {
    check_writable(flags.trace);
    check_writable(flags.diagram);
    look_ = part_of_trace(flags.from, flags.to);
    const bool wants_part = look_.from_ns || look_.to_ns;
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
    diagram::FirstLook look = look_;
    look.title = title;
    if (!look.from_ns && !look.to_ns) {
        // A page's time begins with the first line of its trace.
        if (outcome.picture_begins) look.from_ns = *outcome.picture_begins - observer_->began();
        if (outcome.picture_ends) look.to_ns = *outcome.picture_ends - observer_->began();
    }
    if (look.from_ns && look.to_ns && *look.from_ns >= *look.to_ns)
        throw CLI::ValidationError("--diagram", "the scenario's picture ends where it begins");
    write_file(flags_.diagram, diagram::viewer_page({{"the run", observer_->text()}}, look));
}

}  // namespace bullring::sim
