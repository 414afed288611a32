#include "sim/explore/path_file.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "protocol/values/names.hpp"
#include "sim/scenario/duration_text.hpp"

namespace bullring::sim::explore {

using namespace protocol;

namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

/// The index of a node that is written as its id.
std::optional<std::uint8_t> node_in(std::string_view text) {
    const auto id = number_in<std::uint8_t>(text);
    if (!id || *id < 1 || *id > small_world_nodes_max) return std::nullopt;
    return static_cast<std::uint8_t>(*id - 1);
}

/// `of_two`: of two different nodes.
std::optional<SessionName> session_in(const std::string& text, bool of_two) {
    const std::size_t arrow = text.find('>');
    if (arrow == std::string::npos) return std::nullopt;
    const std::size_t slash = text.find('/', arrow);
    const auto from = node_in(text.substr(0, arrow));
    const auto to =
        node_in(text.substr(arrow + 1, slash == std::string::npos ? slash : slash - arrow - 1));
    const auto number = slash == std::string::npos
                            ? std::optional<std::uint16_t>{1}
                            : number_in<std::uint16_t>(text.substr(slash + 1));
    if (!from || !to || !number || (of_two && *from == *to)) return std::nullopt;
    return SessionName{*from, *to, *number};
}

std::optional<PathStep> step_in(const std::vector<std::string>& words) {
    const auto kind = named<MoveKind>(words[0]);
    if (!kind) return std::nullopt;
    PathStep step;
    step.move.kind = *kind;
    std::size_t used = 1;
    if (*kind != MoveKind::wait) {
        if (words.size() < 2) return std::nullopt;
        used = 2;
        if (has_session(*kind)) {
            const auto session = session_in(words[1], !is_change(*kind));
            if (!session) return std::nullopt;
            step.move.session = *session;
        } else {
            const auto node = node_in(words[1]);
            if (!node) return std::nullopt;
            step.move.session.dialler = *node;
        }
    }
    const bool delivers = *kind == MoveKind::deliver || *kind == MoveKind::answer;
    if (delivers && words.size() == 3) {
        step.content = words[2];
        used = 3;
    }
    if (words.size() != used) return std::nullopt;
    return step;
}

std::optional<Duration> duration_in(const std::string& text) {
    const auto time = parse_duration(text);
    if (!time) return std::nullopt;
    return Duration{*time};
}

template <class Enum>
bool read_name(std::string_view word, Enum& into) {
    const auto value = named<Enum>(word);
    into = value.value_or(into);
    return value.has_value();
}

bool read_option(const std::vector<std::string>& words, Path& path) {
    if (words.size() != 2) return false;
    const std::string& key = words[0];
    const std::string& value = words[1];
    if (key == "nodes") {
        const auto nodes = number_in<std::size_t>(value);
        if (!nodes || *nodes < 1 || *nodes > small_world_nodes_max) return false;
        path.options.nodes = *nodes;
    } else if (key == "algorithm") {
        return read_name(value, path.options.algorithm);
    } else if (key == "profile") {
        return read_name(value, path.options.profile);
    } else if (key == "start") {
        return read_name(value, path.start);
    } else if (key == "delay-max") {
        const auto delay = duration_in(value);
        if (!delay) return false;
        path.options.delay_max = *delay;
    } else if (key == "preempt") {
        if (value != "on" && value != "off") return false;
        path.options.preempt = value == "on";
    } else if (key == "preempt-delay") {
        const auto delay = duration_in(value);
        if (!delay) return false;
        path.options.preempt_delay = *delay;
    } else {
        return false;
    }
    return true;
}

}  // namespace

std::string step_text(const PathStep& step) {
    const Move& move = step.move;
    std::string text = name(move.kind);
    if (has_session(move.kind)) {
        text += fmt::format(" {}>{}", move.session.dialler + 1, move.session.acceptor + 1);
        if (move.session.number != 1) text += fmt::format("/{}", move.session.number);
    } else if (move.kind != MoveKind::wait) {
        text += fmt::format(" {}", move.node() + 1);
    }
    return step.content.empty() ? text : text + " " + step.content;
}

std::string path_text(const Path& path, const std::string& remark) {
    std::string text;
    std::istringstream lines(remark);
    for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
    const SmallWorldOptions& options = path.options;
    text += fmt::format("nodes {}\nalgorithm {}\nprofile {}\nstart {}\n", options.nodes,
                        name(options.algorithm), name(options.profile), name(path.start));
    text += fmt::format("delay-max {}\npreempt {}\npreempt-delay {}\nsteps\n",
                        to_text(options.delay_max), options.preempt ? "on" : "off",
                        to_text(options.preempt_delay));
    for (const PathStep& step : path.steps) text += step_text(step) + "\n";
    return text;
}

std::variant<Path, PathProblem> read_path(std::string_view text) {
    Path path;
    std::istringstream lines{std::string(text)};
    bool in_steps = false;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::vector<std::string> words = words_of(line);
        if (words.empty()) continue;
        if (!in_steps && words.size() == 1 && words[0] == "steps") {
            in_steps = true;
        } else if (!in_steps) {
            if (!read_option(words, path))
                return PathProblem{
                    fmt::format("line {}: not an option of a path: {}", number, line)};
        } else {
            const auto step = step_in(words);
            if (!step) return PathProblem{fmt::format("line {}: not a step: {}", number, line)};
            path.steps.push_back(*step);
        }
    }
    if (!in_steps) return PathProblem{"there is no line \"steps\" before the moves"};
    path.options.faults = static_cast<unsigned>(
        std::count_if(path.steps.begin(), path.steps.end(),
                      [](const PathStep& step) { return is_fault(step.move.kind); }));
    return path;
}

bool is_path(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line == "steps") return true;
    }
    return false;
}

}  // namespace bullring::sim::explore
