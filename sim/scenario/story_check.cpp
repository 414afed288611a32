#include "sim/scenario/story_check.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

namespace {

class StoryCheck {
public:
    explicit StoryCheck(const Scenario& scenario) : scenario_(scenario) {}

    std::vector<std::string> problems() {
        if (scenario_.commands.empty())
            found_.emplace_back("nothing happens: there is no line such as 'at 0s start all'");
        for (const Command& command : scenario_.commands) {
            check_time(command);
            if (command.verb == Verb::picture) check_picture(command);
            if ((command.verb == Verb::move) != scenario_.settings.by_hand.has_value())
                found_.push_back(fmt::format("{}: moves go with 'by-hand', and nothing else does",
                                             command.line));
            check(command, command.a);
            check(command, command.b);
            for (const auto& [a, b] : command.links) {
                check(command, a);
                check(command, b);
            }
        }
        return std::move(found_);
    }

private:
    void check_time(const Command& command) {
        if (!command.relative && command.at < earliest_)
            found_.push_back(fmt::format("{}: 'at {}' is before the line above it, at {} or later",
                                         command.line, duration_text(command.at),
                                         duration_text(earliest_)));
        earliest_ = command.relative ? earliest_ + command.at : std::max(earliest_, command.at);
        if (command.verb == Verb::wait) earliest_ += command.duration;
    }

    void check_picture(const Command& command) {
        const bool begins = command.word == "begins";
        if (begins ? pictured_ : ended_)
            found_.push_back(fmt::format("{}: the picture {} once, and begins before it ends",
                                         command.line, command.word));
        (begins ? pictured_ : ended_) = true;
        if (!begins) pictured_ = true;
    }

    void check(const Command& command, const Target& target) {
        if (target.kind == Target::Kind::id) check(command, target.id);
    }

    void check(const Command& command, NodeId id) {
        const std::vector<NodeId>& ids = scenario_.settings.ids;
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) return;
        std::string known;
        for (const NodeId one : ids) known += fmt::format(" {}", one.value);
        found_.push_back(
            fmt::format("{}: there is no node {}; there are{}", command.line, id.value, known));
    }

    const Scenario& scenario_;
    std::vector<std::string> found_;
    Time earliest_ = 0;
    bool pictured_ = false;
    bool ended_ = false;
};

}  // namespace

std::vector<std::string> story_problems(const Scenario& scenario) {
    return StoryCheck(scenario).problems();
}

}  // namespace bullring::sim
