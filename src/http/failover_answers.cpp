#include "src/http/failover_answers.hpp"

#include <charconv>
#include <utility>

#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"

namespace bullring {

namespace {

constexpr std::string_view list_path = "/failovers";

HttpAnswer list(const Failovers& failovers, std::int64_t now_ns, std::int64_t wall_ns) {
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
        const protocol::Duration gap = protocol::elapsed(failover.lost, failover.found);
        json["gap_ms"] = failover.from ? Json(fractional_ms(gap)) : Json(nullptr);
        all.push_back(std::move(json));
    }
    return {200, json_text(all) + "\n"};
}

HttpAnswer picture(std::string svg) {
    HttpAnswer answer{200, std::move(svg), "image/svg+xml"};
    // Its style stands inside of it, so that it can be kept as a file, and nothing else may.
    answer.policy = "default-src 'none'; style-src 'unsafe-inline'";
    return answer;
}

}  // namespace

std::optional<HttpAnswer> failover_answer(std::string_view path, const Failovers& failovers,
                                          std::int64_t now_ns, std::int64_t wall_ns) {
    if (path == list_path) return list(failovers, now_ns, wall_ns);
    if (!path.starts_with(list_path) || path.size() <= list_path.size() + 1 ||
        path[list_path.size()] != '/')
        return std::nullopt;
    const std::string_view name = path.substr(list_path.size() + 1);
    if (name == "legend.svg") return picture(failovers_legend(failovers));
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const std::string_view kind = name.substr(static_cast<std::size_t>(end - name.data()));
    if (error != std::errc() || (kind != ".svg" && kind != ".bare.svg" && kind != ".jsonl"))
        return std::nullopt;
    for (const auto& failover : failovers) {
        if (failover->number != number) continue;
        if (kind == ".svg") return picture(failover_picture(*failover));
        if (kind == ".bare.svg")
            return picture(failover_picture(*failover, protocol::diagram::LegendPlace::nowhere));
        return HttpAnswer{200, failover_lines(*failover), "application/jsonl"};
    }
    return HttpAnswer{404, "it is not remembered any more\n", "text/plain"};
}

}  // namespace bullring
