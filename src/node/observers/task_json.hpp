// A leader's work in the JSON of `status`: the keys `task`, `lead_commands` and `attached` of a
// node, as bullring-status(1) has them.
#pragma once

#include <optional>

#include "src/base/text/json.hpp"
#include "src/node/report/task_record.hpp"

namespace bullring {

/// `has_one`: the node itself has such work; commands of `lead` run beside any node.
void add_task(Json& node, const ShownTask& task, bool has_one);

/// None where it is not sent. Throws what the library throws.
std::optional<ShownTask> task_in(const Json& node);

}  // namespace bullring
