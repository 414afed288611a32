#include "protocol/diagram/episodes.hpp"

#include <algorithm>
#include <utility>

#include "protocol/diagram/formatted.hpp"

namespace bullring::protocol::diagram {

namespace {

/// More than this many messages of elections are not put into one picture without being asked for.
constexpr std::size_t messages_max = 160;
constexpr std::size_t episodes_max = 2;
constexpr std::int64_t short_trace = 20'000'000;

struct Leadership {
    Place lane = 0;
    const LeaseBar* bar = nullptr;
};

class EpisodeFinder {
public:
    explicit EpisodeFinder(const Model& model) : model_(model) {
        for (Place lane = 0; lane < model.lanes.size(); ++lane) {
            for (const LeaseBar& bar : model.lanes[lane].leases)
                leaderships_.push_back({lane, &bar});
        }
    }

    std::vector<Episode> find() {
        const std::vector<TraceRecord>& records = model_.trace.records;
        std::int64_t from = model_.begin;
        for (const std::size_t i : model_.events) {
            if (records[i].kind != "elected") continue;
            add_elected(i, from);
            from = records[i].t_ns;
        }
        add_unfinished(from);
        return std::move(episodes_);
    }

private:
    void add_elected(std::size_t elected, std::int64_t from) {
        const TraceRecord& record = model_.trace.records[elected];
        Episode episode;
        episode.end = record.t_ns;
        episode.winner = model_.place_of[elected];
        episode.epoch = record.epoch;
        const Leadership* before = last_before(record.t_ns, *episode.winner, record.epoch);
        std::int64_t lost = from;
        if (before != nullptr) {
            episode.replaces = true;
            lost = std::max(from, std::min(before->bar->to, record.t_ns));
            explain(episode, *before);
        } else if (from > model_.begin) {
            // Nobody was lost: one leads beside or over another, as without a quorum.
            lost = last_start(record, from).value_or(record.t_ns);
        }
        episode.lost = lost;
        episode.begin = first_reaction(lost, record.t_ns).value_or(record.t_ns);
        if (!episode.replaces) episode.lost = episode.cause = episode.begin;
        episode.settled = settled_after(record, episode.end - episode.begin);
        episodes_.push_back(std::move(episode));
    }

    /// Somebody tries, and the trace ends without a leader.
    void add_unfinished(std::int64_t from) {
        const Leadership* before = nullptr;
        for (const Leadership& one : leaderships_) {
            if (one.bar->to >= model_.end) return;
            if (before == nullptr || one.bar->to > before->bar->to) before = &one;
        }
        Episode episode;
        episode.lost = before == nullptr ? from : std::max(from, before->bar->to);
        const auto begin = first_reaction(episode.lost, model_.end);
        if (!begin) return;
        if (before != nullptr) {
            episode.replaces = true;
            explain(episode, *before);
        } else {
            episode.lost = episode.cause = *begin;
        }
        episode.begin = *begin;
        episode.end = episode.settled = model_.end;
        episodes_.push_back(std::move(episode));
    }

    /// The leadership that ended last before that time; none was lost while one goes on elsewhere,
    /// as without a quorum.
    const Leadership* last_before(std::int64_t at, Place winner, std::uint64_t epoch) const {
        const Leadership* last = nullptr;
        for (const Leadership& one : leaderships_) {
            if (one.lane == winner && one.bar->epoch == epoch) continue;
            if (one.bar->from > at) continue;
            if (one.bar->to > at && model_.trace.quorum == "none") return nullptr;
            if (one.bar->to > at) continue;
            if (last == nullptr || one.bar->to > last->bar->to) last = &one;
        }
        return last;
    }

    std::string reason_of_end(const Leadership& before) const {
        for (const std::size_t i : model_.events) {
            const TraceRecord& record = model_.trace.records[i];
            if (record.kind == "deposed" && record.node == model_.lanes[before.lane].node &&
                record.epoch == before.bar->epoch) {
                return record.word;
            }
        }
        return "";
    }

    void explain(Episode& episode, const Leadership& before) const {
        const std::string name = model_.node_name(before.lane);
        const std::int64_t ended = before.bar->to;
        episode.cause = ended;
        for (const Death& death : model_.deaths) {
            if (death.lane != before.lane || death.at < before.bar->from) continue;
            if (death.at > ended || (before.bar->given_up && !death.orderly)) continue;
            episode.cause = death.at;
            episode.why = name + (death.orderly  ? " stops"
                                  : death.silent ? " dies silently"
                                                 : " dies");
            return;
        }
        const std::string reason = reason_of_end(before);
        if (before.bar->given_up && reason != "lease_expired") {
            episode.why = name + " gives up";
            if (!reason.empty()) episode.why += ": " + reason;
            std::replace(episode.why.begin(), episode.why.end(), '_', ' ');
            return;
        }
        if (const Absence* absence = model_.absence(before.lane, ended - 1)) {
            episode.cause = std::max(absence->from, before.bar->from);
            episode.why = name + (absence->kind == AbsenceKind::silent      ? " falls silent"
                                  : absence->kind == AbsenceKind::suspended ? " is suspended"
                                                                            : " is paused");
            return;
        }
        episode.why = name + "'s lease runs out";
        for (const LinkChange& link : model_.links) {
            const std::uint64_t node = model_.lanes[before.lane].node;
            if (!link.cut || link.at < before.bar->from || link.at > ended) continue;
            if (link.from != node && link.to != node) continue;
            episode.cause = link.at;
            episode.why = name + " is cut off";
            return;
        }
    }

    /// The first sign that a node acts on the loss: it has no leader, gives up, or stands.
    std::optional<std::int64_t> first_reaction(std::int64_t from, std::int64_t to) const {
        for (const std::size_t i : model_.events) {
            const TraceRecord& record = model_.trace.records[i];
            if (record.t_ns > to) break;
            if (record.t_ns < from) continue;
            if (record.kind == "election_started" || record.kind == "deposed" ||
                (record.kind == "leader" && record.leader == 0)) {
                return record.t_ns;
            }
        }
        return std::nullopt;
    }

    /// When the winner last began an election, in that time.
    std::optional<std::int64_t> last_start(const TraceRecord& elected, std::int64_t from) const {
        std::optional<std::int64_t> last;
        for (const std::size_t i : model_.events) {
            const TraceRecord& record = model_.trace.records[i];
            if (record.t_ns > elected.t_ns) break;
            if (record.kind == "election_started" && record.node == elected.node &&
                record.t_ns >= from) {
                last = record.t_ns;
            }
        }
        return last;
    }

    /// When the last of those who were there at the election knows of it, and has answered.
    std::int64_t settled_after(const TraceRecord& elected, std::int64_t took) const {
        const auto was_there = [&](std::size_t record) {
            const Place place = model_.place_of[record];
            return place != no_place && model_.absence(place, elected.t_ns) == nullptr;
        };
        std::int64_t last = elected.t_ns;
        for (const std::size_t i : model_.events) {
            const TraceRecord& record = model_.trace.records[i];
            if (record.t_ns < elected.t_ns) continue;
            if (record.kind == "elected" && record.t_ns > elected.t_ns) break;
            // A node that is cut off learns of it in another story.
            if (record.t_ns - elected.t_ns > 4 * took + 5'000'000) break;
            if (record.kind == "leader" && record.leader == elected.node &&
                record.epoch == elected.epoch && was_there(i)) {
                last = record.t_ns;
            }
        }
        const std::int64_t patience = (last - elected.t_ns) * 2;
        for (const Arrow& arrow : model_.arrows) {
            if (arrow.look != Look::announcement_grant || arrow.fate != Fate::delivered) continue;
            const TraceRecord& grant = model_.trace.records[arrow.receipt];
            if (grant.epoch != elected.epoch || !was_there(arrow.sending)) continue;
            if (grant.t_ns - elected.t_ns <= patience) last = std::max(last, grant.t_ns);
        }
        return last;
    }

    const Model& model_;
    std::vector<Leadership> leaderships_;
    std::vector<Episode> episodes_;
};

std::size_t busy_messages(const Model& model, std::int64_t from, std::int64_t to) {
    return static_cast<std::size_t>(
        std::count_if(model.arrows.begin(), model.arrows.end(), [&](const Arrow& arrow) {
            return look_of(arrow.look).weight != Weight::background && arrow.sent >= from &&
                   arrow.sent <= to;
        }));
}

/// How long a message of an election takes there, as a median; 1 s if there is none.
std::int64_t usual_flight(const Model& model, Window window) {
    std::vector<std::int64_t> flights;
    for (const Arrow& arrow : model.arrows) {
        if (look_of(arrow.look).weight != Weight::strong || arrow.fate != Fate::delivered) continue;
        if (arrow.sent < window.from || arrow.received > window.to) continue;
        flights.push_back(arrow.received - arrow.sent);
    }
    if (flights.empty()) return 1'000'000'000;
    const auto middle = flights.begin() + static_cast<std::ptrdiff_t>(flights.size() / 2);
    std::nth_element(flights.begin(), middle, flights.end());
    return *middle;
}

}  // namespace

std::vector<Episode> find_episodes(const Model& model) { return EpisodeFinder(model).find(); }

Window choose_window(const Model& model, const std::vector<Episode>& episodes) {
    const bool is_short = model.end - model.begin <= short_trace;
    if (is_short || episodes.empty()) return {model.begin, model.end};
    std::size_t last = episodes.size() - 1;
    std::size_t first = last;
    // The beginning of a cluster is shown only when there is nothing else to see.
    while (first > 0 && last - first + 1 < episodes_max && episodes[first - 1].replaces &&
           busy_messages(model, episodes[first - 1].cause, episodes[last].settled) <=
               messages_max) {
        --first;
    }
    Window window{episodes[first].cause, episodes[last].settled};
    // A little room on both sides, but no more than is of use where time is folded.
    const std::int64_t share = (window.to - window.from) / 12;
    const std::int64_t flight = usual_flight(model, window);
    const std::int64_t room =
        std::max<std::int64_t>(flight == 0 ? share : std::min(share, 4 * flight), 200'000);
    window.from = std::max(model.begin, window.from - room);
    window.to = std::min(model.end, window.to + room);
    return window;
}

std::string headline(const Model& model, const std::vector<Episode>& episodes, Window window) {
    std::string text;
    std::size_t more = 0;
    for (const Episode& episode : episodes) {
        if (episode.end < window.from || episode.cause > window.to) continue;
        if (!text.empty()) {
            ++more;
            continue;
        }
        const std::string why = episode.why.empty() ? "the first election" : episode.why;
        if (episode.winner && episode.replaces) {
            text = formatted("{}, {} leads {} later", why, model.node_name(*episode.winner),
                             rounded_duration(episode.end - episode.cause));
        } else if (episode.winner && episode.end == episode.begin) {
            text = formatted("{}: {} leads", why, model.node_name(*episode.winner));
        } else if (episode.winner) {
            text = formatted("{}: {} leads after {}", why, model.node_name(*episode.winner),
                             rounded_duration(episode.end - episode.begin));
        } else {
            text = formatted("{}, and nobody is elected", why);
        }
    }
    if (more > 0) text += formatted(" (and {} more)", more);
    return text;
}

std::vector<std::size_t> select_records(const Model& model, Window window, bool heartbeats) {
    std::vector<bool> drawn(model.trace.records.size(), false);
    for (const Arrow& arrow : model.arrows) {
        if (!heartbeats && look_of(arrow.look).weight == Weight::background) continue;
        if (arrow.sending != no_record) drawn[arrow.sending] = true;
        if (arrow.receipt != no_record) drawn[arrow.receipt] = true;
    }
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const TraceRecord& record = model.trace.records[i];
        if (record.t_ns < window.from || record.t_ns > window.to) continue;
        if (model.place_of[i] == no_place) continue;
        // An extension of the lease is as frequent as a heartbeat.
        const bool event = record.what == RecordKind::event;
        if (event ? record.kind != "publish" || heartbeats : bool{drawn[i]}) chosen.push_back(i);
    }
    return chosen;
}

}  // namespace bullring::protocol::diagram
