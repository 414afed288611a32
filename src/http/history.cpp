#include "src/http/history.hpp"

#include <algorithm>

#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"

namespace bullring {

namespace {

/// It has led all along, while this node was started anew or did not hear of it.
bool is_same(const History::Leadership& one, const protocol::LeaderChanged& other) {
    return one.what.leader == other.leader && one.what.epoch == other.epoch;
}

}  // namespace

void History::add(const LeaderTurn& turn) {
    last_ns_ = turn.at.boottime_ns;
    const std::int64_t unled_ns = turn.unled_since.boottime_ns;
    if (!turn.what.leader) {
        leaderless_since_ = unled_ns;
        return;
    }
    leaderless_since_.reset();
    if (unled_ns != *last_ns_) outages_.push_back({unled_ns, *last_ns_});
    if (outages_.size() > outages_max) outages_.pop_front();
    if (!leaderships_.empty() && is_same(leaderships_.back(), turn.what)) return;
    leaderships_.push_back({turn.at, turn.what, turn.before, turn.gap()});
    if (leaderships_.size() > leaderships_max) leaderships_.pop_front();
}

void History::add_earlier(const std::deque<Leadership>& past) {
    if (past.empty()) return;
    if (!leaderships_.empty() && is_same(past.back(), leaderships_.front().what))
        leaderships_.pop_front();
    leaderships_.insert(leaderships_.begin(), past.begin(), past.end());
    while (leaderships_.size() > leaderships_max) leaderships_.pop_front();
}

std::int64_t History::watched_ns(std::int64_t now_ns) const {
    return std::min(now_ns - started_ns_, window_ns);
}

std::int64_t History::leaderless_ns(std::int64_t now_ns) const {
    const std::int64_t from = now_ns - watched_ns(now_ns);
    std::int64_t sum = leaderless_since_ ? now_ns - std::max(*leaderless_since_, from) : 0;
    for (const Outage& outage : outages_)
        sum += std::max<std::int64_t>(outage.end_ns - std::max(outage.begin_ns, from), 0);
    return sum;
}

std::string History::json(std::int64_t now_ns, std::int64_t wall_ns) const {
    Json json;
    json["watched_ms"] = fractional_ms({watched_ns(now_ns)});
    json["leaderless_ms"] = fractional_ms({leaderless_ns(now_ns)});
    const auto time_of = [&](std::int64_t ts_ns) { return rfc3339(wall_ns - (now_ns - ts_ns)); };
    json["leaderless_since"] =
        leaderless_since_ ? Json(time_of(*leaderless_since_)) : Json(nullptr);
    json["changes"] = Json::array();
    for (auto one = leaderships_.rbegin(); one != leaderships_.rend(); ++one) {
        Json change;
        change["time"] = one->wall_ns ? rfc3339(*one->wall_ns) : time_of(one->at.boottime_ns);
        change["leader"] = one->what.leader.value;
        change["epoch"] = one->what.epoch.value;
        change["advertised"] = one->what.advertised;
        change["reason"] = one->before ? Json(name(*one->before)) : Json(nullptr);
        change["gap_ms"] = one->gap ? Json(fractional_ms(*one->gap)) : Json(nullptr);
        json["changes"].push_back(std::move(change));
    }
    return json_text(json) + "\n";
}

}  // namespace bullring
