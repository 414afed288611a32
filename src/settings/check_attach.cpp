// The checks of what a user says of attached processes.
#include <array>
#include <charconv>

#include <grp.h>

#include "src/settings/request.hpp"

namespace bullring {

namespace {

std::optional<gid_t> group_of(const std::string& name) {
    group found{};
    group* result = nullptr;
    std::array<char, 16 * 1024> text{};
    if (::getgrnam_r(name.c_str(), &found, text.data(), text.size(), &result) == 0 &&
        result != nullptr)
        return found.gr_gid;
    gid_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) return std::nullopt;
    return number;
}

}  // namespace

AttachOptions checked_attach(const Request& request, Report& report) {
    AttachOptions options;
    options.mode = request.attach.value;
    const bool fenced = request.quorum.value != protocol::QuorumMode::none;
    if (!fenced && request.attach.asked() == AttachMode::on)
        report.say("attach", "it can't be used with quorum none, where two nodes may lead at once");
    if (!fenced) options.mode = AttachMode::off;
    const auto group = request.attach_group.asked();
    if (!group) return options;
    if (const auto id = group_of(*group))
        options.group = {*id, "--attach-group " + *group};
    else
        report.refuse("attach-group", *group,
                      "is no group of this machine; expected a name of getent group, or a number");
    if (options.mode == AttachMode::off)
        report.say("attach-group", "it needs attach on, which it is not");
    return options;
}

}  // namespace bullring
