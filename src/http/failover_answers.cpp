#include "src/http/failover_answers.hpp"

#include <utility>

#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"

namespace bullring {

HttpAnswer failover_list(const Failovers& failovers, std::int64_t now_ns, std::int64_t wall_ns) {
    Json all = Json::array();
    for (auto one = failovers.rbegin(); one != failovers.rend(); ++one) {
        const Failover& failover = **one;
        Json json;
        json["number"] = failover.number;
        json["time"] = rfc3339(wall_ns - (now_ns - failover.found.boottime_ns));
        json["from"] = id_or_null(failover.from);
        json["to"] = failover.to.value;
        json["epoch"] = failover.epoch.value;
        json["reason"] = name(failover.before);
        const protocol::Duration gap = protocol::elapsed(failover.unled_since, failover.found);
        json["gap_ms"] = failover.from ? Json(fractional_ms(gap)) : Json(nullptr);
        all.push_back(std::move(json));
    }
    return {200, json_text(all) + "\n"};
}

HttpAnswer failover_trace(const Failovers& failovers, std::uint64_t number) {
    for (const auto& failover : failovers)
        if (failover->number == number)
            return {200, failover_lines(*failover), "application/jsonl"};
    return {404, "it is not remembered any more\n", "text/plain"};
}

}  // namespace bullring
