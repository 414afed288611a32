#include "src/node/refounding_note.hpp"

#include <cerrno>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/private_file.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/settings/data_files.hpp"

namespace bullring {

RefoundingNote::RefoundingNote(const std::string& data_dir)
    : path_(data_dir + "/" + refounded_file_name) {}

std::string RefoundingNote::leave(protocol::NodeId self, unsigned user) const {
    const std::string text =
        fmt::format("member refound {} --others-are-lost\nuser {}\nthis machine, {}\n", self.value,
                    user, rfc3339(wall_clock_ns()));
    const auto written = replace_file(path_, text, public_mode);
    return written ? "" : path_ + ": " + written.error().why;
}

std::string RefoundingNote::take_away() const {
    if (::unlink(path_.c_str()) == 0 || errno == ENOENT) return "";
    return path_ + ": " + reason_text(errno);
}

std::optional<AskedAction> RefoundingNote::read() const {
    const auto text = read_regular_file(path_);
    if (!text) return {};
    std::istringstream lines(*text);
    AskedAction action;
    std::getline(lines, action.what);
    std::getline(lines, action.caller.by);
    if (!std::getline(lines, action.caller.from)) return {};
    return action;
}

void RefoundingNote::tell(bool done,
                          const std::function<void(const AskedAction&)>& listener) const {
    auto action = read();
    if (!action) return;
    if (!done) {
        action->answer = AskedAction::Answer::failed;
        action->why = "the state was not written";
    }
    listener(*action);
    if (const std::string why = take_away(); !why.empty())
        log(LogLevel::warn, "each start will tell of member refound again: " + why);
}

}  // namespace bullring
