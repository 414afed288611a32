#include "src/http/history.hpp"

#include <algorithm>

#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"

namespace bullring {

namespace {

/// It has led all along, while this node was started anew or did not hear of it.
bool is_same(const History::Leadership& one, const protocol::LeaderChanged& other) {
    return one.begin.what.leader == other.leader && one.begin.what.epoch == other.epoch;
}

}  // namespace

void History::add(const RecentChanges::Change& change) {
    last_ns_ = change.ts_ns;
    // The same leader may have been found meanwhile, and lost again before it gave a sign of life.
    const auto& unled_since = change.what.unled_since;
    const std::int64_t unled_ns =
        unled_since ? std::max(unled_since->boottime_ns, found_ns_) : found_ns_;
    if (!change.what.leader) {
        leaderless_since_ = unled_ns;
        return;
    }
    add_leader(change);
    leaderless_since_.reset();
    found_ns_ = change.ts_ns;
    if (unled_ns == change.ts_ns) return;
    outages_.push_back({unled_ns, change.ts_ns});
    if (outages_.size() > outages_max) outages_.pop_front();
}

void History::add_earlier(const std::deque<Leadership>& past) {
    if (past.empty()) return;
    if (!leaderships_.empty() && is_same(past.back(), leaderships_.front().begin.what))
        leaderships_.pop_front();
    leaderships_.insert(leaderships_.begin(), past.begin(), past.end());
    while (leaderships_.size() > leaderships_max) leaderships_.pop_front();
}

void History::add_leader(const RecentChanges::Change& change) {
    if (!leaderships_.empty() && is_same(leaderships_.back(), change.what)) return;
    const auto& unled_since = change.what.unled_since;
    const std::int64_t gap_ns = unled_since ? change.ts_ns - unled_since->boottime_ns : -1;
    leaderships_.push_back({change, gap_ns, std::nullopt});
    if (leaderships_.size() > leaderships_max) leaderships_.pop_front();
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
        const RecentChanges::Change& begin = one->begin;
        Json change;
        change["time"] = one->wall_ns ? rfc3339(*one->wall_ns) : time_of(begin.ts_ns);
        change["leader"] = begin.what.leader.value;
        change["epoch"] = begin.what.epoch.value;
        change["advertised"] = begin.what.advertised;
        change["reason"] = begin.reason == nullptr ? Json(nullptr) : Json(begin.reason);
        change["gap_ms"] = one->gap_ns < 0 ? Json(nullptr) : Json(fractional_ms({one->gap_ns}));
        json["changes"].push_back(std::move(change));
    }
    return json_text(json) + "\n";
}

}  // namespace bullring
