#include "src/verify/drill/tally.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/text/json.hpp"
#include "src/verify/drill/drill_options.hpp"

namespace bullring::drill {

namespace {

using protocol::Duration;

struct Row {
    DrillRequest fault;
    std::size_t rounds = 0;
    std::size_t late = 0;
    bool two_leaders = false;
    std::vector<Duration> times;  // in order
};

std::vector<Row> rows(const std::vector<Round>& rounds) {
    std::vector<Row> found;
    for (const DrillRequest fault : all_faults) {
        Row row{fault, 0, 0, false, {}};
        for (const Round& round : rounds) {
            if (round.fault != fault) continue;
            ++row.rounds;
            if (round.late()) ++row.late;
            if (round.two_leaders) row.two_leaders = true;
            if (round.without_leader) row.times.push_back(*round.without_leader);
        }
        std::sort(row.times.begin(), row.times.end());
        if (row.rounds != 0) found.push_back(std::move(row));
    }
    return found;
}

double in_ms(Duration time) { return static_cast<double>(time.ns) / 1e6; }

std::string cell(const Row& row, double p) {
    return row.times.empty() ? "-" : fmt::format("{:.1f} ms", in_ms(percentile(row.times, p)));
}

Json number(const Row& row, double p) {
    return row.times.empty() ? Json(nullptr) : Json(in_ms(percentile(row.times, p)));
}

}  // namespace

Duration percentile(const std::vector<Duration>& times, double p) {
    const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(times.size())));
    return times[std::clamp<std::size_t>(rank, 1, times.size()) - 1];
}

bool Tally::sound() const { return complaints().empty(); }

std::vector<std::string> Tally::complaints() const {
    std::vector<std::string> all;
    for (const Row& row : rows(rounds_)) {
        if (row.two_leaders)
            all.push_back(fmt::format("{}: two nodes claimed to lead at once", name(row.fault)));
        if (row.late != 0)
            all.push_back(fmt::format("{}: {} of {} rounds had no leader within 3 leases",
                                      name(row.fault), row.late, row.rounds));
    }
    return all;
}

std::string Tally::table() const {
    std::string text = fmt::format("{:<7}{:>7}{:>13}{:>13}{:>13}  {}\n", "fault", "rounds",
                                   "median", "p99", "longest", "two leaders at once");
    for (const Row& row : rows(rounds_)) {
        text += fmt::format("{:<7}{:>7}{:>13}{:>13}{:>13}  {}\n", name(row.fault), row.rounds,
                            cell(row, 0.5), cell(row, 0.99), cell(row, 1),
                            row.two_leaders ? "YES" : "no");
    }
    return text;
}

std::string Tally::json(const std::string& cluster, protocol::NodeId not_back) const {
    Json json;
    json["cluster"] = cluster;
    json["sound"] = sound() && !not_back;
    json["not_back"] = id_or_null(not_back);
    json["faults"] = Json::array();
    for (const Row& row : rows(rounds_)) {
        Json one;
        one["fault"] = name(row.fault);
        one["rounds"] = row.rounds;
        one["median_ms"] = number(row, 0.5);
        one["p99_ms"] = number(row, 0.99);
        one["longest_ms"] = number(row, 1);
        one["no_leader_in_time"] = row.late;
        one["two_leaders"] = row.two_leaders;
        json["faults"].push_back(std::move(one));
    }
    return json.dump() + "\n";
}

}  // namespace bullring::drill
