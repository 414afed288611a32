#include "protocol/diagram/model.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "protocol/diagram/formatted.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr std::int64_t never = INT64_MAX;

void sort_and_match(Model& model) {
    std::stable_sort(model.trace.records.begin(), model.trace.records.end(),
                     [](const TraceRecord& a, const TraceRecord& b) { return a.t_ns < b.t_ns; });
    model.matching = match(model.trace.records);
}

/// Whether that time is in a bar or an absence; its end is not, unless it is the trace's only.
template <class Stretch>
bool lasts(const Stretch& stretch, std::int64_t at) {
    return stretch.from <= at && (at < stretch.to || (stretch.open && at == stretch.to));
}

EpochNames name_epochs(const Trace& trace) {
    std::vector<std::uint64_t> epochs;
    for (const TraceRecord& record : trace.records) {
        // Not each heartbeat's: what nobody has led or asked for is not shown.
        if (record.what != RecordKind::event && record.kind != "COORDINATOR" &&
            record.kind != "CTOKEN") {
            continue;
        }
        epochs.push_back(record.epoch);
    }
    return EpochNames(epochs);
}

/// Goes through one lane's events and fills its bars and marks.
class LaneStory {
public:
    LaneStory(Model& model, Place lane) : model_(model), lane_(model.lanes[lane]), place_(lane) {}

    void tell() {
        const std::vector<TraceRecord>& records = model_.trace.records;
        for (const std::size_t i : model_.events) {
            if (model_.place_of[i] == place_) tell(records[i]);
        }
        if (lease_) lease_->open = lease_->until > model_.end;
        close_lease(model_.end, false);
        close_role(model_.end);
        for (LeaseBar& lease : lane_.leases) end_with_its_owner(lease);
        for (RoleBar& role : lane_.roles) {
            role.to = std::min(role.to, death_after(role.from));
        }
        tell_deaths();
    }

private:
    void tell(const TraceRecord& record) {
        const std::string& kind = record.kind;
        if (kind == "publish") {
            on_publish(record);
        } else if (kind == "role") {
            on_role(record);
        } else if (kind == "leader") {
            lane_.follows.push_back({record.t_ns, record.leader});
            // The winner's own mark says it.
            if (record.leader == lane_.node) return;
            add(record, MarkShape::follows, record.leader,
                record.leader == 0 ? "no leader" : formatted("follows {}", record.leader));
        } else if (kind == "peer_up") {
            add(record, MarkShape::trust, record.peer, "up");
        } else if (kind == "peer_down") {
            add(record, MarkShape::suspicion, record.peer, word_for_loss(record.word));
        } else if (kind == "election_started") {
            add(record, MarkShape::election, 0, "starts election");
        } else if (kind == "elected") {
            add(record, MarkShape::elected, 0,
                record.grants == 0 || model_.trace.quorum == "none"
                    ? "elected"
                    : formatted("elected ({} of {})", record.grants, voters()));
        } else if (kind == "deposed") {
            add(record, MarkShape::deposed, 0,
                record.word == "lease_expired" ? "lease is over"
                                               : "gives up: " + spaced(record.word));
        } else if (kind == "start") {
            on_start(record);
        } else if (kind != "crash" && kind != "power_off" && kind != "stop" && kind != "pause" &&
                   kind != "suspend" && kind != "resume" && kind != "cut" && kind != "heal") {
            std::string what = spaced(kind);
            if (record.peer != 0) what += formatted(" {}", record.peer);
            add(record, MarkShape::other, 0,
                record.word.empty() ? what : what + ": " + record.word);
        }
    }

    void on_start(const TraceRecord& record) {
        // A simulator's world and the process itself may both report it.
        if (started_at_ == record.t_ns) return;
        add(record, MarkShape::start, 0, runs_++ == 0 ? "starts" : "starts again");
        started_at_ = record.t_ns;
        lane_.follows.push_back({record.t_ns, 0});
        close_lease(record.t_ns, false);
        close_role(record.t_ns);
    }

    void on_publish(const TraceRecord& record) {
        if (record.epoch == 0) return close_lease(record.t_ns, true);
        if (lease_ && lease_->epoch != record.epoch) close_lease(record.t_ns, true);
        if (!lease_) lease_ = LeaseBar{record.epoch, record.t_ns, never, never, false};
        lease_->until = record.lease_left_ns ? record.t_ns + *record.lease_left_ns : never;
    }

    void close_lease(std::int64_t at, bool given_up) {
        if (!lease_) return;
        lease_->to = std::min(at, lease_->until);
        lease_->given_up = given_up && at < lease_->until;
        if (given_up) lease_->until = lease_->to;
        lane_.leases.push_back(*lease_);
        lease_.reset();
    }

    void on_role(const TraceRecord& record) {
        close_role(record.t_ns);
        if (record.word == "candidate" || record.word == "stepping_down") {
            role_ = RoleBar{record.t_ns, record.t_ns, record.word == "stepping_down", record.epoch};
        }
    }

    void close_role(std::int64_t at) {
        if (!role_) return;
        role_->to = at;
        lane_.roles.push_back(*role_);
        role_.reset();
    }

    /// The first death on this lane at or behind that time.
    std::int64_t death_after(std::int64_t at) const {
        std::int64_t first = never;
        for (const Death& death : model_.deaths) {
            if (death.lane == place_ && death.at >= at) first = std::min(first, death.at);
        }
        return first;
    }

    void end_with_its_owner(LeaseBar& lease) const {
        const std::int64_t death = death_after(lease.from);
        if (death <= lease.to) {
            lease.to = death;
            lease.open = false;
        } else {
            lease.until = lease.to;  // nothing is left of it, or the trace ends here
        }
        if (lease.until == never || lease.given_up) lease.until = lease.to;
    }

    void tell_deaths() {
        for (const Death& death : model_.deaths) {
            if (death.lane != place_) continue;
            Mark mark{place_, death.at, MarkShape::death, 0, "dies", "the process ends", no_record};
            if (death.orderly) mark.label = "stops";
            if (death.silent) {
                mark.label = "dies silently";
                mark.tip = "nothing tells the others";
            }
            model_.marks.push_back(std::move(mark));
        }
    }

    void add(const TraceRecord& record, MarkShape shape, std::uint64_t about, std::string label) {
        std::string tip = formatted("{}: {}", model_.node_name(place_), spaced(record.kind));
        if (record.peer != 0) tip += formatted(" {}", record.peer);
        if (!record.detail.empty()) tip += " (" + record.detail + ")";
        const auto index = static_cast<std::size_t>(&record - model_.trace.records.data());
        model_.marks.push_back(
            {place_, record.t_ns, shape, about, std::move(label), std::move(tip), index});
    }

    std::size_t voters() const {
        return model_.trace.members.empty() ? model_.lanes.size() : model_.trace.members.size();
    }

    static std::string spaced(std::string words) {
        std::replace(words.begin(), words.end(), '_', ' ');
        return words;
    }

    static std::string word_for_loss(const std::string& reason) {
        if (reason == "eof") return "gone (FIN)";
        if (reason == "reset") return "gone (RST)";
        if (reason == "timeout") return "silent";
        return "lost (" + reason + ")";
    }

    Model& model_;
    Lane& lane_;
    Place place_;
    std::optional<LeaseBar> lease_;
    std::optional<RoleBar> role_;
    std::int64_t started_at_ = never;
    int runs_ = 0;
};

/// Only what changes something: healing a link that is whole is no news.
void find_links(Model& model) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> cut;
    for (const std::size_t i : model.events) {
        const TraceRecord& record = model.trace.records[i];
        if (record.kind != "cut" && record.kind != "heal") continue;
        const std::pair<std::uint64_t, std::uint64_t> link{record.node, record.peer};
        const bool is_cut = record.kind == "cut";
        const bool news = is_cut ? cut.insert(link).second : cut.erase(link) > 0;
        if (news) model.links.push_back({record.t_ns, is_cut, link.first, link.second});
    }
}

}  // namespace

std::optional<Place> Model::lane_of(std::uint64_t node, std::int64_t at) const {
    std::optional<Place> first;
    for (Place lane = 0; lane < lanes.size(); ++lane) {
        if (lanes[lane].node != node) continue;
        const Absence* gone = absence(lane, at);
        if (gone == nullptr || gone->kind != AbsenceKind::dead) return lane;
        if (!first) first = lane;
    }
    return first;
}

const Absence* Model::absence(Place lane, std::int64_t at) const {
    for (const Absence& absence : lanes[lane].absences) {
        if (lasts(absence, at)) return &absence;
    }
    return nullptr;
}

std::string Model::state(Place lane, std::int64_t at) const {
    const Lane& here = lanes[lane];
    if (!here.traced) return "not traced";
    if (const Absence* gone = absence(lane, at)) {
        switch (gone->kind) {
            case AbsenceKind::dead: return "not running";
            case AbsenceKind::paused: return "paused";
            case AbsenceKind::suspended: return "suspended";
            case AbsenceKind::silent: return "silent";
        }
    }
    for (const LeaseBar& lease : here.leases) {
        if (lasts(lease, at)) return "leads";
    }
    std::optional<std::uint64_t> leader;
    for (const Follows& follows : here.follows) {
        if (follows.at <= at) leader = follows.leader;
    }
    if (!leader) return "";
    if (*leader == 0 || *leader == here.node) return "no leader";
    return formatted("follows {}", *leader);
}

Model make_model(Trace trace) {
    Model model;
    model.trace = std::move(trace);
    sort_and_match(model);
    align_clocks(model.trace, model.matching);
    sort_and_match(model);
    model.begin = model.trace.records.front().t_ns;
    model.end = model.trace.records.back().t_ns;
    model.epochs = name_epochs(model.trace);
    make_lanes(model);
    for (Place lane = 0; lane < model.lanes.size(); ++lane) LaneStory(model, lane).tell();
    std::stable_sort(model.marks.begin(), model.marks.end(),
                     [](const Mark& a, const Mark& b) { return a.at < b.at; });
    find_links(model);
    make_arrows(model);
    return model;
}

}  // namespace bullring::protocol::diagram
