#include "src/task/attach/attach_text.hpp"

#include <fmt/format.h>

#include "src/base/text/json.hpp"
#include "src/base/text/text.hpp"

namespace bullring {

namespace {

using Error = tl::unexpected<std::string>;

constexpr std::int64_t stall_after_ms_max = 24LL * 3600 * 1000;

std::string line_of(const Json& json) { return json_text(json) + "\n"; }

/// So much of it that the answer is a line, too.
std::string begin_of(std::string_view text) { return one_line(text.substr(0, 60)); }
std::string begin_of_value(const Json& json) { return begin_of(json_text(json)); }

tl::expected<AttachRequest, std::string> campaign_in(const Json& json) {
    AttachCampaign campaign;
    if (const auto stall = json.find("stall_after_ms"); stall != json.end()) {
        const bool is_time = stall->is_number_unsigned() &&
                             stall->get<std::uint64_t>() <= std::uint64_t{stall_after_ms_max};
        if (!is_time)
            return Error(
                fmt::format("\"stall_after_ms\" is {}; expected a number of milliseconds "
                            "from 0 to {}",
                            begin_of_value(*stall), stall_after_ms_max));
        campaign.candidacy.stall_after = protocol::milliseconds(stall->get<std::int64_t>());
    }
    if (const auto said = json.find("advertised"); said != json.end()) {
        if (said->is_string()) campaign.candidacy.advertised = said->get<std::string>();
        if (!said->is_string() ||
            campaign.candidacy.advertised.size() > protocol::advertised_bytes_max)
            return Error(fmt::format("\"advertised\" is {}; expected a text of at most {} bytes",
                                     begin_of_value(*said), protocol::advertised_bytes_max));
    }
    if (const auto loss = json.find("on_loss"); loss != json.end()) {
        campaign.ends_with_node = *loss == "kill";
        if (!campaign.ends_with_node && *loss != "tell")
            return Error(fmt::format("\"on_loss\" is {}; expected \"tell\" or \"kill\"",
                                     begin_of_value(*loss)));
    }
    return campaign;
}

}  // namespace

tl::expected<AttachRequest, std::string> attach_request_in(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object())
        return Error(
            fmt::format("'{}' is no JSON object; expected one a line, as "
                        "{{\"op\":\"campaign\"}}",
                        begin_of(line)));
    const auto op = json.find("op");
    if (op != json.end() && *op == "campaign") return campaign_in(json);
    if (op != json.end() && *op == "progress") return AttachProgress{};
    if (op != json.end() && *op == "resign") return AttachResign{};
    if (op != json.end() && *op == "leader") return AttachAsksLeader{};
    if (op != json.end() && *op == "done") {
        const auto again = json.find("again");
        if (again == json.end()) return AttachDone{};
        if (!again->is_boolean())
            return Error(
                fmt::format("\"again\" is {}; expected true or false", begin_of_value(*again)));
        return AttachDone{again->get<bool>()};
    }
    return Error(
        fmt::format("{}; expected \"op\":\"campaign\", \"progress\", \"done\", \"resign\" "
                    "or \"leader\"",
                    op == json.end() ? "there is no \"op\"" : "\"op\" is " + begin_of_value(*op)));
}

std::string attached_line(protocol::NodeId node, const std::string& cluster) {
    return line_of(
        {{"event", "attached"}, {"node", node.value}, {"cluster", cluster}, {"version", 1}});
}

std::string attach_leader_line(protocol::NodeId leader, protocol::Epoch epoch,
                               const std::string& advertised) {
    return line_of({{"event", "leader"},
                    {"leader", id_or_null(leader)},
                    {"epoch", epoch.value},
                    {"advertised", advertised}});
}

std::string attach_elected_line(protocol::Epoch epoch, std::int64_t valid_until_ns) {
    return line_of(
        {{"event", "elected"}, {"epoch", epoch.value}, {"valid_until_ns", valid_until_ns}});
}

std::string attach_stop_line(protocol::Epoch epoch, protocol::DeposedReason reason,
                             std::int64_t by_ns) {
    return line_of({{"event", "stop"},
                    {"epoch", epoch.value},
                    {"reason", protocol::name(reason)},
                    {"by_ns", by_ns}});
}

std::string attach_released_line(protocol::Epoch epoch) {
    return line_of({{"event", "released"}, {"epoch", epoch.value}});
}

std::string attach_error_line(std::string_view what) {
    return line_of({{"event", "error"}, {"error", what}});
}

}  // namespace bullring
