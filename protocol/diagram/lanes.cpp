// Which line of the picture each run of a process belongs to, and when nothing ran there.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "protocol/diagram/model.hpp"

namespace bullring::protocol::diagram {

namespace {

struct Run {
    std::uint64_t node = 0;
    std::uint64_t incarnation = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool from_its_start = false;
};

using RunKey = std::pair<std::uint64_t, std::uint64_t>;

bool is_death(const TraceRecord& record) {
    return record.what == RecordKind::event &&
           (record.kind == "crash" || record.kind == "power_off" || record.kind == "stop");
}

bool is_event(const TraceRecord& record, const char* kind) {
    return record.what == RecordKind::event && record.kind == kind;
}

/// In order of their first lines.
std::vector<Run> find_runs(const Trace& trace) {
    std::map<RunKey, std::size_t> known;
    std::vector<Run> runs;
    for (const TraceRecord& record : trace.records) {
        if (record.node == 0 || record.incarnation == 0) continue;
        const auto [found, fresh] =
            known.try_emplace({record.node, record.incarnation}, runs.size());
        if (fresh) runs.push_back({record.node, record.incarnation, record.t_ns, 0, false});
        Run& run = runs[found->second];
        run.last = record.t_ns;
        run.from_its_start = run.from_its_start || is_event(record, "start");
    }
    return runs;
}

class LaneMaker {
public:
    explicit LaneMaker(Model& model) : model_(model), runs_(find_runs(model.trace)) {}

    void make() {
        make_lanes();
        assign_records();
        for (Place lane = 0; lane < model_.lanes.size(); ++lane) find_absences(lane);
    }

private:
    void make_lanes() {
        std::set<std::uint64_t> nodes(model_.trace.members.begin(), model_.trace.members.end());
        for (const TraceRecord& record : model_.trace.records) {
            if (record.node != 0) nodes.insert(record.node);
            if (record.peer != 0) nodes.insert(record.peer);
        }
        for (const std::uint64_t node : nodes) {
            const Place first = model_.lanes.size();
            add_lane(node, "");
            for (std::size_t r = 0; r < runs_.size(); ++r) {
                if (runs_[r].node != node) continue;
                Place lane = first;
                // Two processes with one id at the same time have a line each.
                while (lane < model_.lanes.size() && model_.lanes[lane].last_line > runs_[r].first)
                    ++lane;
                if (lane == model_.lanes.size()) {
                    add_lane(node, std::string(1, static_cast<char>('a' + (lane - first) % 26)));
                }
                model_.lanes[lane].last_line = runs_[r].last;
                runs_of_[lane].push_back(r);
                lane_of_run_[{node, runs_[r].incarnation}] = lane;
            }
        }
    }

    void add_lane(std::uint64_t node, const std::string& suffix) {
        Lane lane;
        lane.node = node;
        lane.name = std::to_string(node) + suffix;
        model_.lanes.push_back(std::move(lane));
        runs_of_.emplace_back();
    }

    void assign_records() {
        const std::vector<TraceRecord>& records = model_.trace.records;
        model_.place_of.assign(records.size(), no_place);
        lines_of_.resize(model_.lanes.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (records[i].what == RecordKind::event) model_.events.push_back(i);
            if (records[i].node == 0) continue;
            const auto run = lane_of_run_.find({records[i].node, records[i].incarnation});
            Place lane = 0;
            if (run != lane_of_run_.end()) {
                lane = run->second;
            } else {
                while (model_.lanes[lane].node != records[i].node) ++lane;
            }
            model_.place_of[i] = lane;
            lines_of_[lane].push_back(i);
            model_.lanes[lane].traced = true;
            model_.lanes[lane].last_line = std::max(model_.lanes[lane].last_line, records[i].t_ns);
        }
    }

    void find_absences(Place lane) {
        std::vector<Absence>& found = model_.lanes[lane].absences;
        const std::vector<std::size_t>& runs = runs_of_[lane];
        if (!runs.empty() && runs_[runs.front()].from_its_start &&
            runs_[runs.front()].first > model_.begin) {
            found.push_back({model_.begin, runs_[runs.front()].first, AbsenceKind::dead});
        }
        for (std::size_t k = 0; k < runs.size(); ++k) {
            const Run& run = runs_[runs[k]];
            const bool last = k + 1 == runs.size();
            find_pauses(lane, run);
            find_end(lane, run, last ? model_.end : runs_[runs[k + 1]].first, last);
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Absence& a, const Absence& b) { return a.from < b.from; });
    }

    /// Of a run that is followed by another, or by nothing, at `next`.
    void find_end(Place lane, const Run& run, std::int64_t next, bool last) {
        std::vector<Absence>& absences = model_.lanes[lane].absences;
        const auto die = [&](std::int64_t at, bool silent, bool orderly) {
            model_.deaths.push_back({lane, at, silent, orderly});
            for (Absence& absence : absences) {
                if (absence.to <= at || absence.from > at) continue;
                absence.to = at;
                absence.open = false;
            }
            if (next > at || last) absences.push_back({at, next, AbsenceKind::dead, last});
        };
        const std::vector<TraceRecord>& records = model_.trace.records;
        const TraceRecord* end = nullptr;
        bool orderly = false;
        for (const std::size_t i : lines_of_[lane]) {
            const TraceRecord& record = records[i];
            if (!is_death(record)) continue;
            const bool this_run = record.incarnation == run.incarnation ||
                                  (record.incarnation == 0 && record.t_ns >= run.first &&
                                   (last || record.t_ns < next));
            if (!this_run) continue;
            end = &record;
            orderly = orderly || record.kind == "stop";
        }
        // Between the request to stop and its end a node still hands over.
        if (end != nullptr) {
            return die(std::max(end->t_ns, run.last), end->kind == "power_off", orderly);
        }
        if (model_.trace.true_time) return;
        for (const std::size_t i : model_.events) {
            const TraceRecord& record = records[i];
            if (record.t_ns < run.last || record.t_ns > next) continue;
            if (!is_event(record, "peer_down") || record.peer != run.node) continue;
            if (record.node == run.node) continue;
            if (record.word == "eof" || record.word == "reset") {
                return die(record.t_ns, false, false);
            }
        }
        if (!last) {
            die(run.last, true, false);
        } else if (model_.end - run.last > silence()) {
            absences.push_back({run.last, model_.end, AbsenceKind::silent, true});
        }
    }

    void find_pauses(Place lane, const Run& run) {
        std::vector<Absence>& absences = model_.lanes[lane].absences;
        std::int64_t previous = run.first;
        std::optional<Absence> open;
        const std::vector<TraceRecord>& records = model_.trace.records;
        for (const std::size_t i : lines_of_[lane]) {
            const TraceRecord& record = records[i];
            if (record.t_ns < run.first) continue;
            if (record.incarnation != run.incarnation && record.incarnation != 0) continue;
            if (record.t_ns > run.last && record.incarnation == 0 && is_death(record)) break;
            const bool pause = is_event(record, "pause");
            if (pause || is_event(record, "suspend")) {
                if (!open) {
                    open = Absence{record.t_ns, model_.end,
                                   pause ? AbsenceKind::paused : AbsenceKind::suspended, true};
                }
            } else if (is_event(record, "resume")) {
                if (open) {
                    open->to = record.t_ns;
                    open->open = false;
                    absences.push_back(*open);
                    open.reset();
                }
            } else if (!open && !model_.trace.true_time && record.t_ns - previous > silence()) {
                absences.push_back({previous, record.t_ns, AbsenceKind::silent});
            }
            previous = record.t_ns;
        }
        if (open) absences.push_back(*open);
    }

    /// A node that lives writes a line for each heartbeat.
    std::int64_t silence() const {
        constexpr std::int64_t unknown = 1'000'000'000;
        return model_.trace.heartbeat_ns == 0 ? unknown : 4 * model_.trace.heartbeat_ns;
    }

    Model& model_;
    std::vector<Run> runs_;
    std::vector<std::vector<std::size_t>> runs_of_;  // by lane, in order of time
    std::map<RunKey, Place> lane_of_run_;
    std::vector<std::vector<std::size_t>> lines_of_;  // by lane: its records
};

}  // namespace

void make_lanes(Model& model) { LaneMaker(model).make(); }

}  // namespace bullring::protocol::diagram
