#include "src/base/log/log_limit.hpp"

#include <algorithm>
#include <utility>

namespace bullring {

namespace {

/// The line that all share for whom there is no room.
const std::string the_others;

}  // namespace

LogLimit::Kind& LogLimit::kind_of(std::string_view name) {
    const auto found = kinds_.find(name);
    if (found != kinds_.end()) return found->second;
    return kinds_[kinds_.size() < kinds_max ? std::string(name) : the_others];
}

std::optional<std::uint64_t> LogLimit::admit(std::string_view kind, const LogSource& source,
                                             Time now) {
    Kind& all = kind_of(kind);
    auto& lines = source.member ? all.members : all.strangers;
    const std::size_t lines_max = source.member ? members_max : strangers_max;
    if (lines.size() >= lines_max && !lines.contains(source.text))
        std::erase_if(lines, [now](const auto& one) { return one.second.next <= now; });
    const bool room = lines.size() < lines_max || lines.contains(source.text);
    Line& line = lines[room ? source.text : the_others];
    if (now < line.next) {
        ++line.left_out;
        return std::nullopt;
    }
    line.pause = now < line.next + line.pause ? std::min(line.pause * 2, at_most) : every;
    line.next = now + line.pause;
    return std::exchange(line.left_out, 0);
}

}  // namespace bullring
