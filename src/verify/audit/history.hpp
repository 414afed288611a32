// Owns: what the event streams of a cluster say of its leaderships, gathered line by line in
// whatever order the files come. Of the lines only those are kept that begin or end a leadership,
// and one for each epoch that was followed: memory grows with the leaderships, not with the lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/node/report/event_line.hpp"
#include "src/verify/audit/actions.hpp"

namespace bullring::audit {

/// An instant by both of a line's clocks.
struct Moment {
    std::int64_t ts_ns = 0;
    std::int64_t time_ns = 0;
};

struct Place {
    std::size_t file = 0;
    std::size_t line = 0;  // from 1
};

/// A line of a stream, to be shown.
struct Quote {
    Place place;
    std::string text;
};

/// Two lines that can't both be true.
struct Contradiction {
    std::string what;
    Quote first;
    Quote second;
};

struct Leadership {
    struct Edge {
        Moment at;
        Quote quote;
    };

    std::uint64_t node = 0;
    std::uint64_t epoch = 0;
    std::optional<Edge> begin;       // none: no `elected` has been seen
    std::optional<Edge> end;         // none: no `deposed` has been seen
    std::optional<Edge> still;       // a later line that shows it unended; with --quorum none
    std::string reason;              // of the end
    std::size_t clock = 0;           // equal: ts_ns is comparable
    std::optional<std::size_t> run;  // of its first line; none: no `started` precedes in that file

    /// The instants at which it is known to have been held, if it was at more than one.
    Moment from() const { return begin ? begin->at : end->at; }
    Moment until() const { return last_edge().at; }
    const Quote& first_quote() const { return begin ? begin->quote : end->quote; }
    const Edge& last_edge() const { return end ? *end : still ? *still : *begin; }
};

/// One incarnation of a node, from its `started`.
struct Run {
    std::uint64_t node = 0;
    Moment begun;
    Place place;
    std::size_t clock = 0;
    bool has_boot = false;
    bool has_lease = false;
};

/// The report on the leader of an epoch by a node that followed it.
struct Sighting {
    std::uint64_t leader = 0;
    std::uint64_t node = 0;  // who said so
    Quote quote;
};

class History {
public:
    /// From here on lines are of this file.
    void open_file(std::string name);
    void add(std::size_t line, std::string_view text, const EventLine& event);
    /// A line that was cut short.
    void add_torn(std::size_t line) { torn_.push_back({files_.size() - 1, line}); }
    /// After the last line: what could not be known before all files were read.
    void close();

    const std::vector<Leadership>& leaderships() const { return leaderships_; }
    const std::vector<Run>& runs() const { return runs_; }
    const std::map<std::uint64_t, Sighting>& sightings() const { return sightings_; }
    /// Contradictions within single lines, whatever the clocks say.
    const std::vector<Contradiction>& contradictions() const { return contradictions_; }
    const std::set<std::uint64_t>& nodes() const { return nodes_; }
    /// Members by what nodes were started with, of whom no line was seen.
    std::vector<std::uint64_t> missing() const;
    const std::set<std::uint64_t>& without_quorum() const { return without_quorum_; }
    /// Two lines that show that the files are of more than one cluster, in words; after close().
    std::optional<std::string> mixture() const;
    /// By which the lines count, as far as they show; after close().
    std::size_t clocks() const { return std::max<std::size_t>(clocks_.size(), 1); }
    std::size_t lines() const { return lines_; }
    const Actions& actions() const { return actions_; }
    const std::vector<Place>& torn() const { return torn_; }
    /// Where a stream says that so many of its events are missing.
    const std::vector<std::pair<Place, std::uint64_t>>& lost() const { return lost_; }
    Moment first() const { return first_; }
    Moment last() const { return last_; }
    /// "FILE:LINE".
    std::string text(Place place) const;

    /// When that incarnation of the node was over at the latest, by the next one's beginning.
    const Run* next_run(const Leadership& leadership) const;

private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // node, epoch
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return key.first * 0x9E3779B97F4A7C15U ^ key.second;
        }
    };

    void on(const EventLine& event, const Quote& quote, const Started& started);
    void on(const EventLine& event, const Quote& quote, const Cluster& cluster);
    void on(const EventLine& event, const Quote& quote, const Members& members);
    void on(const EventLine& event, const Quote& quote, const Lost& lost);
    void on(const EventLine& event, const Quote& quote, const Elected& elected);
    void on(const EventLine& event, const Quote& quote, const Deposed& deposed);
    void on(const EventLine& event, const Quote& quote, const Follows& follows);
    Leadership& leadership(const EventLine& event, std::uint64_t epoch);
    std::size_t clock_named(const std::string& name);
    const Run* run_before(const Leadership& leadership) const;
    void contradict(std::string what, const Quote& first, const Quote& second);

    std::vector<std::string> files_;
    // Of the file that is read, by node:
    std::map<std::uint64_t, std::size_t> current_runs_;
    std::map<std::uint64_t, std::size_t> without_lease_;  // leaderships that have not ended yet
    std::vector<Run> runs_;
    std::map<std::uint64_t, std::vector<Run>> runs_by_time_;  // by node; after close()
    std::vector<Leadership> leaderships_;
    std::unordered_map<Key, std::size_t, KeyHash> index_;
    std::map<std::uint64_t, Sighting> sightings_;
    std::vector<Contradiction> contradictions_;
    std::unordered_map<std::string, std::size_t> clocks_;
    // Where each was first named:
    std::map<std::string, Place> clusters_;
    std::map<std::string, Place> cluster_ids_;
    std::map<std::set<std::uint64_t>, Place> member_lists_;
    std::set<std::uint64_t> nodes_, members_, without_quorum_;
    Actions actions_;
    std::size_t lines_ = 0;
    std::vector<Place> torn_;
    std::vector<std::pair<Place, std::uint64_t>> lost_;
    Moment first_, last_;
};

}  // namespace bullring::audit
