#include "protocol/diagram/causality.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "protocol/diagram/formatted.hpp"
#include "protocol/diagram/words.hpp"

namespace bullring::protocol::diagram {

// ---- Which sending each receipt belongs to.

namespace {

/// The dialler, its incarnation, its number for the session, whether towards the acceptor.
using StreamKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, bool>;

struct Stream {
    std::map<std::uint64_t, std::size_t> sent;  // by index
    std::map<std::uint64_t, std::size_t> received;
};

StreamKey stream_of(const TraceRecord& record) {
    // The acceptor answers the HELLO and then says nothing more on that session.
    const bool by_acceptor = record.kind == "HELLO_ACK" || record.kind == "REFUSED";
    const bool here_is_dialler = (record.what == RecordKind::send) != by_acceptor;
    if (here_is_dialler) return {record.node, record.incarnation, record.session, !by_acceptor};
    return {record.peer, record.peer_incarnation, record.session, !by_acceptor};
}

bool may_be_replaced(const TraceRecord& record) {
    return record.kind == "HB" || record.kind == "COORDINATOR";
}

void match_stream(const std::vector<TraceRecord>& records, const Stream& stream, Matching& result) {
    std::uint64_t ahead = 0;  // how many sendings have been replaced so far
    for (const auto& [index, receipt] : stream.received) {
        std::uint64_t try_ahead = ahead;
        std::vector<std::size_t> replaced;
        while (true) {
            const auto sent = stream.sent.find(index + try_ahead);
            if (sent == stream.sent.end()) break;
            if (records[sent->second].body == records[receipt].body) {
                result.partner[receipt] = sent->second;
                result.partner[sent->second] = receipt;
                for (const std::size_t one : replaced) result.superseded[one] = true;
                ahead = try_ahead;
                break;
            }
            if (!may_be_replaced(records[sent->second])) break;
            replaced.push_back(sent->second);
            ++try_ahead;
        }
    }
}

}  // namespace

Matching match(const std::vector<TraceRecord>& records) {
    Matching result;
    result.partner.assign(records.size(), no_record);
    result.superseded.assign(records.size(), false);
    std::map<StreamKey, Stream> streams;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const TraceRecord& record = records[i];
        if (record.what == RecordKind::event) continue;
        Stream& stream = streams[stream_of(record)];
        auto& side = record.what == RecordKind::send ? stream.sent : stream.received;
        side.emplace(record.index, i);
    }
    for (const auto& [key, stream] : streams) match_stream(records, stream, result);
    return result;
}

// ---- How far the clocks are apart.

namespace {

using Process = std::pair<std::uint64_t, std::uint64_t>;  // node, incarnation

struct Hop {
    std::int64_t fastest = INT64_MAX;  // receipt − sending, by the two clocks
    std::uint64_t count = 0;
};

using Hops = std::map<std::pair<Process, Process>, Hop>;

std::int64_t in_range(std::int64_t time) {
    return std::clamp(time, -trace_time_max, trace_time_max);
}

Process run_of(const TraceRecord& record) { return {record.node, record.incarnation}; }

Hops measure(const Trace& trace, const Matching& matching) {
    Hops hops;
    for (std::size_t i = 0; i < trace.records.size(); ++i) {
        const TraceRecord& receipt = trace.records[i];
        if (receipt.what != RecordKind::recv || matching.partner[i] == no_record) continue;
        const TraceRecord& sending = trace.records[matching.partner[i]];
        Hop& hop = hops[{run_of(sending), run_of(receipt)}];
        hop.fastest = std::min(hop.fastest, receipt.t_ns - sending.t_ns);
        ++hop.count;
    }
    return hops;
}

/// How far b's clock is ahead of a's, as far as messages show.
std::optional<std::int64_t> ahead(const Hops& hops, const Process& a, const Process& b) {
    const auto there = hops.find({a, b});
    const auto back = hops.find({b, a});
    if (there == hops.end() && back == hops.end()) return std::nullopt;
    if (back == hops.end()) return there->second.fastest;
    if (there == hops.end()) return -back->second.fastest;
    return (there->second.fastest - back->second.fastest) / 2;
}

std::uint64_t messages_between(const Hops& hops, const Process& a, const Process& b) {
    std::uint64_t count = 0;
    if (const auto there = hops.find({a, b}); there != hops.end()) count += there->second.count;
    if (const auto back = hops.find({b, a}); back != hops.end()) count += back->second.count;
    return count;
}

/// By run: what its clock shows beyond the first run's. Grows along the busiest links, as these
/// have the fastest messages.
std::map<Process, std::int64_t> offsets(const std::set<Process>& runs, const Hops& hops) {
    std::map<Process, std::int64_t> known;
    std::set<Process> rest = runs;
    while (!rest.empty()) {
        Process from;
        Process to = *rest.begin();
        std::uint64_t best = 0;
        for (const auto& [reached, offset] : known) {
            for (const Process& candidate : rest) {
                const std::uint64_t count = messages_between(hops, reached, candidate);
                if (count <= best) continue;
                best = count;
                from = reached;
                to = candidate;
            }
        }
        // Nothing connects it with those before: it keeps its own time.
        known[to] = best == 0 ? 0 : in_range(known[from] + ahead(hops, from, to).value_or(0));
        rest.erase(to);
    }
    return known;
}

}  // namespace

void align_clocks(Trace& trace, const Matching& matching) {
    if (trace.true_time) return;
    const Hops hops = measure(trace, matching);
    const bool plausible = std::all_of(hops.begin(), hops.end(),
                                       [](const auto& hop) { return hop.second.fastest >= 0; });
    if (plausible) return;
    std::set<Process> runs;
    for (const TraceRecord& record : trace.records) {
        if (record.node != 0) runs.insert(run_of(record));
    }
    const std::map<Process, std::int64_t> shown = offsets(runs, hops);
    for (TraceRecord& record : trace.records) {
        const auto offset = shown.find(run_of(record));
        if (offset != shown.end()) record.t_ns = in_range(record.t_ns - offset->second);
    }
    for (const auto& [run, offset] : shown) {
        if (offset == 0) continue;
        trace.notes.push_back(formatted(
            "node {}'s clock shows {} more than node {}'s, judged by their messages; its lines "
            "were moved",
            run.first, rounded_duration(offset), shown.begin()->first.first));
    }
}

// ---- What happened before what.

namespace {

constexpr std::size_t not_done = static_cast<std::size_t>(-1);

class Clockwork {
public:
    Clockwork(const std::vector<TraceRecord>& records, const Matching& matching,
              const std::vector<std::size_t>& chosen, const std::vector<Place>& place_of,
              std::size_t places)
        : records_(records),
          matching_(matching),
          waiting_(places),
          next_(places, 0),
          now_(places, std::vector<std::uint32_t>(places, 0)) {
        for (const std::size_t record : chosen) {
            waiting_[place_of[record]].push_back(record);
            position_[record] = not_done;
        }
    }

    std::vector<ClockedEvent> run() {
        events_.reserve(position_.size());
        while (events_.size() < position_.size()) {
            bool moved = false;
            for (Place place = 0; place < waiting_.size(); ++place) {
                while (next_[place] < waiting_[place].size() && ready(place)) {
                    take(place);
                    moved = true;
                }
            }
            // Receipts that wait for each other in a circle can't have happened: the trace is
            // wrong. One of them then goes on without what it has received.
            if (!moved) take_any();
        }
        return std::move(events_);
    }

private:
    /// Where this receipt's sending stands among the events; null if that was not chosen.
    const std::size_t* sending_of(std::size_t record) const {
        if (records_[record].what != RecordKind::recv) return nullptr;
        if (matching_.partner[record] == no_record) return nullptr;
        const auto found = position_.find(matching_.partner[record]);
        return found == position_.end() ? nullptr : &found->second;
    }

    bool ready(Place place) const {
        const std::size_t* sending = sending_of(waiting_[place][next_[place]]);
        return sending == nullptr || *sending != not_done;
    }

    void take(Place place) {
        const std::size_t record = waiting_[place][next_[place]++];
        std::vector<std::uint32_t>& clock = now_[place];
        const std::size_t* sending = sending_of(record);
        if (sending != nullptr && *sending != not_done) {
            const std::vector<std::uint32_t>& known = events_[*sending].clock;
            for (Place i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], known[i]);
        }
        ++clock[place];
        position_[record] = events_.size();
        events_.push_back({record, place, clock});
    }

    void take_any() {
        for (Place place = 0; place < waiting_.size(); ++place) {
            if (next_[place] < waiting_[place].size()) return take(place);
        }
    }

    const std::vector<TraceRecord>& records_;
    const Matching& matching_;
    std::vector<std::vector<std::size_t>> waiting_;  // by place, in order
    std::vector<std::size_t> next_;                  // by place: the first that is not done
    std::vector<std::vector<std::uint32_t>> now_;    // by place
    std::map<std::size_t, std::size_t> position_;    // by record: its place in events_
    std::vector<ClockedEvent> events_;
};

}  // namespace

std::vector<ClockedEvent> vector_clocks(const std::vector<TraceRecord>& records,
                                        const Matching& matching,
                                        const std::vector<std::size_t>& chosen,
                                        const std::vector<Place>& place_of, std::size_t places) {
    return Clockwork(records, matching, chosen, place_of, places).run();
}

std::string clock_text(const std::vector<std::uint32_t>& clock,
                       const std::vector<std::string>& names) {
    std::string text;
    for (Place i = 0; i < clock.size(); ++i) {
        if (clock[i] == 0) continue;
        if (!text.empty()) text += ' ';
        text += names[i] + ':' + std::to_string(clock[i]);
    }
    return text;
}

}  // namespace bullring::protocol::diagram
