// Owns: the trail of what people and programs have asked of this node (to hand over, to change the
// members, to let a fault happen): a line of the log and one of the event stream for each, with who
// it was, from where, and what came of it. What was not done is limited, so that nobody can fill a
// disk by asking; what was done never is.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/values/ids.hpp"
#include "src/base/log/log_limit.hpp"
#include "src/node/report/asked_action.hpp"
#include "src/node/report/background_writer.hpp"
#include "src/node/report/events_file.hpp"

namespace bullring {

/// One for each thread.
class ActionTrail {
public:
    /// `events`: of the writer; none: there is no stream.
    explicit ActionTrail(protocol::NodeId self = {}, BackgroundWriter* writer = nullptr,
                         std::optional<BackgroundWriter::StreamId> events = {})
        : self_(self), writer_(writer), events_(events) {}

    /// `at`: when it was answered.
    void tell(const EventTime& at, const AskedAction& action);

private:
    protocol::NodeId self_;
    BackgroundWriter* writer_;
    std::optional<BackgroundWriter::StreamId> events_;
    LogLimit limit_;
};

}  // namespace bullring
