#include "sim/scenario/scenario_text.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/scenario/duration_text.hpp"
#include "sim/scenario/line_reader.hpp"
#include "sim/scenario/path_scenario.hpp"
#include "sim/scenario/settings_text.hpp"
#include "sim/scenario/story_check.hpp"

namespace bullring::sim {

namespace {

/// The forms of operands that a verb may have.
enum class Form : std::uint8_t {
    target,
    target_reset,
    target_step,
    target_duration,
    rates,
    disk,
    link,
    links,
    resign,
    members,
    health,
    task,
    client,
    picture,
    lie,
    alone
};

struct Word {
    std::string_view name;
    Verb verb;
    Form form;
};

constexpr auto words = std::to_array<Word>({
    {"start", Verb::start, Form::target},
    {"crash", Verb::crash, Form::target_reset},
    {"power-off", Verb::power_off, Form::target},
    {"stop", Verb::stop, Form::target},
    {"pause", Verb::pause, Form::target_step},
    {"resume", Verb::resume, Form::target},
    {"suspend", Verb::suspend, Form::target},
    {"slow", Verb::slow, Form::target_duration},
    {"rates", Verb::rates, Form::rates},
    {"second-process", Verb::second, Form::target},
    {"readdress", Verb::readdress, Form::link},
    {"mistake", Verb::mistake, Form::link},
    {"disk", Verb::disk, Form::disk},
    {"cut", Verb::cut, Form::link},
    {"heal", Verb::heal, Form::link},
    {"isolate", Verb::isolate, Form::target},
    {"graph", Verb::graph, Form::links},
    {"reset", Verb::reset, Form::link},
    {"forget", Verb::forget, Form::link},
    {"forge-fin", Verb::forge_fin, Form::link},
    {"flip-bit", Verb::flip, Form::link},
    {"lie", Verb::lie, Form::lie},
    {"resign", Verb::resign, Form::resign},
    {"members", Verb::members, Form::members},
    {"health", Verb::health, Form::health},
    {"stall", Verb::stall, Form::target},
    {"task", Verb::task, Form::task},
    {"attach", Verb::attach, Form::target},
    {"client", Verb::client, Form::client},
    {"calm", Verb::calm, Form::alone},
    {"mark", Verb::mark, Form::alone},
    {"picture", Verb::picture, Form::picture},
    {"wait", Verb::wait, Form::target_duration},
});

std::string known_words() {
    std::string known;
    for (const Word& word : words) known += std::string(word.name) + ", ";
    return known + "expect";
}

void read_step(LineReader& line, Command& command) {
    if (line.take("within-step"))
        command.number = line.number("after how many actions", 0, 100) + 1;
}

void read_links(LineReader& line, Command& command) {
    while (!line.done()) {
        char separator = '-';
        const auto [a, b] = line.link(separator);
        if (a.kind != Target::Kind::id || b.kind != Target::Kind::id)
            return line.fail("a graph's links are between ids, such as 1-2");
        if (a.id == b.id) return line.fail(fmt::format("'{0}-{0}' is no link", a.id.value));
        command.links.emplace_back(a.id, b.id);
    }
}

void read_disk(LineReader& line, Command& command) {
    command.a = line.target();
    command.word = line.one_of(
        {"lost", "torn", "older", "failing", "good", "slow", "copied", "predecessor", "own"});
    if (command.word == "copied") command.b = line.target();
    if (command.word == "slow") command.duration = line.duration("how much longer a write takes");
}

void read_lie(LineReader& line, Command& command) {
    char separator = '>';
    std::tie(command.a, command.b) = line.link(separator);
    if (separator != '>') return line.fail("a lie goes one way, such as 1>2");
    command.word = line.one_of(
        {"HELLO_ACK", "HB", "LEADER", "COORDINATOR", "GRANT", "NACK", "RESIGN", "TOKEN", "CTOKEN"});
    command.word += " " + line.one_of({"epoch", "duration", "stamp", "round"});
    command.number = line.number("what it says", 0, INT64_MAX);
}

void read_arguments(LineReader& line, Form form, Command& command) {
    switch (form) {
        case Form::alone: return;
        case Form::target: command.a = line.target(); return;
        case Form::target_reset:
            command.a = line.target();
            if (line.take("by-reset")) command.word = "reset";
            return read_step(line, command);
        case Form::target_step: command.a = line.target(); return read_step(line, command);
        case Form::target_duration:
            if (command.verb != Verb::wait) command.a = line.target();
            command.duration = line.duration("how long");
            return;
        case Form::rates:
            command.a = line.target();
            command.number = line.number("the boot clock's ppm", -500'000, 500'000);
            command.number2 = line.number("the raw clock's ppm", -500'000, 500'000);
            return;
        case Form::disk: return read_disk(line, command);
        case Form::link: {
            if (command.verb == Verb::heal && line.take("all")) {
                command.a.kind = Target::Kind::all;
                return;
            }
            char separator = '-';
            std::tie(command.a, command.b) = line.link(separator);
            command.word = std::string(1, separator);
            const bool back = command.verb == Verb::mistake;  // to where it is
            if (!back && command.a.kind == Target::Kind::id && command.a == command.b)
                line.fail(fmt::format("'{0}{1}{0}' is no link", command.a.id.value, separator));
            return;
        }
        case Form::links: return read_links(line, command);
        case Form::lie: return read_lie(line, command);
        case Form::resign:
            command.a = line.target();
            if (line.take("to")) command.b = line.target();
            return;
        case Form::members:
            command.word = line.one_of({"add", "remove", "promote", "demote", "address"});
            command.a = line.target();
            command.b.kind = Target::Kind::leader;
            if (line.take("at")) command.b = line.target();
            return;
        case Form::health:
            command.a = line.target();
            command.word = line.one_of({"bad", "good"});
            return;
        case Form::task:
            command.a = line.target();
            command.word = line.one_of({"ends", "fails", "hangs", "returns"});
            return;
        case Form::client:
            command.a = line.target();
            command.word = line.one_of({"done", "leaves", "killed", "forks", "closes", "stopped",
                                        "goes-on", "deaf", "heeds", "guarded"});
            return;
        case Form::picture: command.word = line.one_of({"begins", "ends"}); return;
    }
}

void read_expectation(LineReader& line, Command& command) {
    const std::string what = line.one_of(
        {"leader", "holder", "no", "steady", "at", "the", "a", "epoch", "deposed", "members"});
    if (what == "leader" || what == "holder") {
        command.verb = what == "leader" ? Verb::expect_leader : Verb::expect_holder;
        if (line.peek() != "within" && line.peek() != "as" && !line.done())
            command.a = line.target();
        if (line.take("within")) command.duration = line.duration("within what time");
    } else if (what == "no") {
        command.verb = line.one_of({"leader", "fsync"}) == "fsync" ? Verb::expect_no_fsync
                                                                   : Verb::expect_no_leader;
        if (line.take("for")) command.duration = line.duration("for how long");
    } else if (what == "steady") {
        command.verb = Verb::expect_steady;
        line.one_of({"for"});
        command.duration = line.duration("for how long");
    } else if (what == "at") {
        command.verb = Verb::expect_elections;
        line.one_of({"most"});
        command.number = line.number("how many elections", 0, 1'000'000);
        line.one_of({"elections", "election"});
    } else if (what == "the") {
        command.verb = Verb::expect_same_leader;
        line.one_of({"same"});
        line.one_of({"leader"});
    } else if (what == "a") {
        command.verb = Verb::expect_higher_epoch;
        line.one_of({"higher"});
        line.one_of({"epoch"});
    } else if (what == "epoch") {
        command.verb = Verb::expect_epoch;
        command.number = line.number("the epoch", 1, INT64_MAX);
    } else if (what == "deposed") {
        command.verb = Verb::expect_deposed;
        command.a = line.target();
        command.word = name(line.named<protocol::DeposedReason>());
    }
    if (what == "members") {
        command.verb = Verb::expect_members;
        command.word = std::string(line.word("who votes, and behind a + who does not: 1,2,3+4"));
    }
    if (line.take("as")) command.check = std::string(line.word("the check's name"));
}

void read_command(LineReader& line, Scenario& scenario) {
    Command command;
    command.line = line.number();
    std::string when(line.word("a time"));
    if (!when.empty() && when[0] == '+') {
        command.relative = true;
        when.erase(0, 1);
    }
    const auto at = parse_duration(when);
    if (!at)
        return line.fail(
            fmt::format("'at {}': a time such as 1.5s, or +20ms after the line before", when));
    command.at = *at;
    const std::string verb(line.word("what happens"));
    if (verb == "expect") {
        read_expectation(line, command);
    } else {
        const Word* found = nullptr;
        for (const Word& word : words)
            if (word.name == verb) found = &word;
        if (verb == "move") return line.fail("a move has no time; write it without 'at'");
        if (found == nullptr)
            return line.fail(
                fmt::format("'{}' is nothing that can happen; there are {}", verb, known_words()));
        command.verb = found->verb;
        read_arguments(line, found->form, command);
    }
    line.end();
    if (!line.failed()) scenario.commands.push_back(command);
}

std::string target_text(const Target& target) {
    if (target.site == Site::neighbour) {
        const Target there{target.kind, target.id, Site::own};
        if (target.kind == Target::Kind::none) return "n-any";
        return (target.kind == Target::Kind::id ? "n" : "n-") + target_text(there);
    }
    switch (target.kind) {
        case Target::Kind::none: return "";
        case Target::Kind::id: return std::to_string(target.id.value);
        case Target::Kind::all: return "all";
        case Target::Kind::leader: return "leader";
        case Target::Kind::follower: return "follower";
        case Target::Kind::highest: return "highest";
        case Target::Kind::best: return "best";
        case Target::Kind::second: return "second";
    }
    return "";
}

std::string arguments_text(const Command& c, Form form) {
    const std::string a = target_text(c.a);
    const auto step = [&] {
        return c.number > 0 ? fmt::format(" within-step {}", c.number - 1) : std::string();
    };
    switch (form) {
        case Form::alone: return "";
        case Form::target: return " " + a;
        case Form::target_reset: return " " + a + (c.word == "reset" ? " by-reset" : "") + step();
        case Form::target_step: return " " + a + step();
        case Form::target_duration:
            return (a.empty() ? "" : " " + a) + " " + duration_text(c.duration);
        case Form::rates: return fmt::format(" {} {} {}", a, c.number, c.number2);
        case Form::disk:
            return " " + a + " " + c.word +
                   (c.word == "slow" ? " " + duration_text(c.duration) : "") +
                   (c.word == "copied" ? " " + target_text(c.b) : "");
        case Form::link:
            if (c.a.kind == Target::Kind::all && c.b.kind == Target::Kind::none) return " all";
            return " " + a + c.word + target_text(c.b);
        case Form::links: {
            std::string text;
            for (const auto& [x, y] : c.links) text += fmt::format(" {}-{}", x.value, y.value);
            return text;
        }
        case Form::resign:
            return " " + a + (c.b.kind == Target::Kind::none ? "" : " to " + target_text(c.b));
        case Form::members: return " " + c.word + " " + a + " at " + target_text(c.b);
        case Form::health:
        case Form::client:
        case Form::task: return " " + a + " " + c.word;
        case Form::picture: return " " + c.word;
        case Form::lie: return fmt::format(" {}>{} {} {}", a, target_text(c.b), c.word, c.number);
    }
    return "";
}

std::string expectation_text(const Command& c) {
    std::string text = "expect ";
    switch (c.verb) {
        case Verb::expect_leader:
        case Verb::expect_holder:
            text += c.verb == Verb::expect_leader ? "leader" : "holder";
            if (c.a != Target{}) text += " " + target_text(c.a);
            if (c.duration >= 0) text += " within " + duration_text(c.duration);
            break;
        case Verb::expect_no_leader:
            text += "no leader";
            if (c.duration >= 0) text += " for " + duration_text(c.duration);
            break;
        case Verb::expect_steady: text += "steady for " + duration_text(c.duration); break;
        case Verb::expect_elections: text += fmt::format("at most {} elections", c.number); break;
        case Verb::expect_same_leader: text += "the same leader"; break;
        case Verb::expect_higher_epoch: text += "a higher epoch"; break;
        case Verb::expect_epoch: text += fmt::format("epoch {}", c.number); break;
        case Verb::expect_no_fsync: text += "no fsync"; break;
        case Verb::expect_deposed: text += "deposed " + target_text(c.a) + " " + c.word; break;
        case Verb::expect_members: text += "members " + c.word; break;
        default: break;
    }
    if (!c.check.empty()) text += " as " + c.check;
    return text;
}

}  // namespace

std::variant<Scenario, ScenarioProblems> parse_scenario(std::string_view text) {
    Scenario scenario;
    ScenarioProblems found;
    int number = 0;
    bool head = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view whole = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        head = head && whole.starts_with("#");
        if (head) scenario.about.emplace_back(whole.substr(whole.starts_with("# ") ? 2 : 1));
        LineReader line(whole, number);
        if (line.done()) continue;
        if (line.take("at"))
            read_command(line, scenario);
        else if (line.take("move"))
            read_move(line, scenario);
        else
            read_setting(line, scenario);
        if (line.failed()) found.push_back(line.problem());
    }
    if (found.empty())
        for (const Scenario& one : each_algorithm(scenario))
            for (const std::string& problem : problems(one.settings))
                found.push_back("settings: " + problem);
    if (found.empty()) found = story_problems(scenario);
    if (!found.empty()) return found;
    return scenario;
}

std::string to_text(const Command& command) {
    if (command.verb == Verb::move)
        return "move " + to_text(command.move) + (command.word.empty() ? "" : " " + command.word);
    std::string text = "at ";
    if (command.relative) text += "+";
    text += duration_text(command.at) + " ";
    for (const Word& word : words)
        if (word.verb == command.verb)
            return text + std::string(word.name) + arguments_text(command, word.form);
    return text + expectation_text(command);
}

std::string to_text(const Scenario& scenario) {
    std::string text;
    for (const std::string& line : scenario.about)
        text += line.empty() ? "#\n" : "# " + line + "\n";
    text += settings_text(scenario) + "\n";
    for (const Command& command : scenario.commands) text += to_text(command) + "\n";
    return text;
}

}  // namespace bullring::sim
