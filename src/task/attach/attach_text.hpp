// Owns: the lines between a node and the processes attached to it (bullring-attach(7)): what they
// ask, understood, and what they are told. Text and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tl/expected.hpp>

#include "protocol/attach/candidacies.hpp"
#include "protocol/values/actions.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"

namespace bullring {

struct AttachCampaign {
    protocol::Candidacy candidacy;
    bool ends_with_node = false;  // "on_loss": "kill"
    bool operator==(const AttachCampaign&) const = default;
};
struct AttachProgress {
    bool operator==(const AttachProgress&) const = default;
};
struct AttachDone {
    bool again = false;
    bool operator==(const AttachDone&) const = default;
};
struct AttachResign {
    bool operator==(const AttachResign&) const = default;
};
struct AttachAsksLeader {
    bool operator==(const AttachAsksLeader&) const = default;
};
using AttachRequest =
    std::variant<AttachCampaign, AttachProgress, AttachDone, AttachResign, AttachAsksLeader>;

/// Of a line without its end. Fields that are not known are passed over. The error says what is
/// wrong and what would be right.
tl::expected<AttachRequest, std::string> attach_request_in(std::string_view line);

// Lines with their end.
std::string attached_line(protocol::NodeId node, const std::string& cluster);
std::string attach_leader_line(protocol::NodeId leader, protocol::Epoch epoch,
                               const std::string& advertised);
std::string attach_elected_line(protocol::Epoch epoch, std::int64_t valid_until_ns);
std::string attach_stop_line(protocol::Epoch epoch, protocol::DeposedReason reason,
                             std::int64_t by_ns);
std::string attach_released_line(protocol::Epoch epoch);
std::string attach_error_line(std::string_view what);

}  // namespace bullring
