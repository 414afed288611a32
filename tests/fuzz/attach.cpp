// The reach of processes attached to a node: any line on their connection, and any order
// of all that can happen to them and to their node.
#include "src/base/text/json.hpp"
#include "src/base/text/text.hpp"
#include "src/task/attach/attach_text.hpp"
#include "tests/fuzz/attach_host.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;

namespace {

constexpr std::size_t line_bytes_max = 4096;

/// The line that a client is told: one object, and room for it.
Json told(const std::string& line) {
    fuzz::expect(line.size() <= line_bytes_max, "a line is too long for a client");
    fuzz::expect(line.find('\n') == line.size() - 1, "a line that is not one");
    Json json = Json::parse(line, nullptr, false);
    fuzz::expect(json.is_object() && json.contains("event"), "a line that is no event");
    return json;
}

void check_request(std::string_view line) {
    const auto request = attach_request_in(line);
    if (!request) {
        fuzz::expect(!request.error().empty(), "a line is refused without a reason");
        const Json json = told(attach_error_line(request.error()));
        fuzz::expect(json["event"] == "error" && is_utf8(request.error()),
                     "a reason that nobody can read");
        return;
    }
    if (const auto* campaign = std::get_if<AttachCampaign>(&*request)) {
        const auto& [stall_after, advertised] = campaign->candidacy;
        fuzz::expect(stall_after.ns >= 0 && stall_after <= protocol::seconds(24 * 3600),
                     "a time out of range");
        fuzz::expect(advertised.size() <= protocol::advertised_bytes_max && is_utf8(advertised),
                     "a text that other nodes would not take");
    }
    Json json = Json::parse(line);
    json["a field of a later version"] = json;
    fuzz::expect(attach_request_in(json_text(json)) == request,
                 "its own text means something else");
}

void check_leader_line(std::string_view advertised) {
    const Json json = told(attach_leader_line({7}, {INT64_MAX}, std::string(advertised)));
    fuzz::expect(!is_utf8(advertised) || json["advertised"] == advertised,
                 "something else is advertised");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    switch (input.below(3)) {
        case 0: fuzz::AttachHost(input).run(); break;
        case 1: check_request(input.rest()); break;
        default: check_leader_line(input.rest().substr(0, protocol::advertised_bytes_max)); break;
    }
    return 0;
}
