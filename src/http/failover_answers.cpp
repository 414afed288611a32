#include "src/http/failover_answers.hpp"

#include <utility>

#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"

namespace bullring {

namespace {

HttpAnswer picture(std::string svg) {
    HttpAnswer answer{200, std::move(svg), "image/svg+xml"};
    // Its style stands inside of it, so that it can be kept as a file, and nothing else may.
    answer.policy = "default-src 'none'; style-src 'unsafe-inline'";
    return answer;
}

}  // namespace

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
        json["reason"] = failover.reason;
        const protocol::Duration gap = protocol::elapsed(failover.unled_since, failover.found);
        json["gap_ms"] = failover.from ? Json(fractional_ms(gap)) : Json(nullptr);
        all.push_back(std::move(json));
    }
    return {200, json_text(all) + "\n"};
}

HttpAnswer failover_legend(const Failovers& failovers) {
    return picture(failovers_legend(failovers));
}

HttpAnswer failover_answer(const Failovers& failovers, std::uint64_t number, FailoverForm form) {
    for (const auto& failover : failovers)
        if (failover->number == number) return form(*failover);
    return {404, "it is not remembered any more\n", "text/plain"};
}

HttpAnswer as_picture(const Failover& failover) { return picture(failover_picture(failover)); }

HttpAnswer as_bare_picture(const Failover& failover) {
    return picture(failover_picture(failover, protocol::diagram::LegendPlace::nowhere));
}

HttpAnswer as_lines(const Failover& failover) {
    return {200, failover_lines(failover), "application/jsonl"};
}

}  // namespace bullring
