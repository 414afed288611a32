#include "protocol/diagram/failover_rows.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "protocol/diagram/formatted.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr std::size_t records_max = 2'000;
constexpr std::size_t rows_max = 120;
constexpr std::size_t peers_max = 64;
constexpr std::size_t text_max = 60;
constexpr std::size_t tip_max = 400;
constexpr std::int64_t wait_min = 5'000'000;

/// Cut between two characters.
std::string shortened(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    text.resize(most);
    return text + "…";
}

/// The node's own records: of too many the first and the last.
Trace own_trace(const std::vector<TraceRecord>& records, const FailoverStory& story) {
    Trace trace;
    trace.quorum = story.quorum;
    // Heartbeats are not among them: that nothing is recorded is no silence.
    trace.heartbeat_ns = trace_time_max / 8;
    for (const TraceRecord& record : records) {
        if (record.node != story.node) continue;
        trace.records.push_back(record);
        std::int64_t& at = trace.records.back().t_ns;
        at = std::clamp(at, -trace_time_max, trace_time_max);
    }
    std::vector<TraceRecord>& own = trace.records;
    if (own.size() > records_max) {
        const auto half = static_cast<std::ptrdiff_t>(records_max / 2);
        own.erase(own.begin() + half, own.end() - half);
    }
    return trace;
}

class RowMaker {
public:
    RowMaker(const Model& model, const FailoverStory& story) : model_(model), story_(story) {}

    FailoverRows make() {
        result_.begin = std::min(model_.begin, story_.lost_ns);
        result_.end = std::max(model_.end, story_.found_ns);
        for (const Arrow& arrow : model_.arrows) add(arrow);
        for (const Mark& mark : model_.marks) add(mark);
        std::vector<Row> rows;
        rows.reserve(found_.size());
        for (auto& [record, row] : found_) rows.push_back(std::move(row));
        std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
            return a.at != b.at ? a.at < b.at : rank(a) < rank(b);
        });
        for (Row& row : rows) append(std::move(row));
        find_reigns();
        for (Loss& loss : result_.losses) loss.to = std::min(loss.to, result_.end);
        for (const Lane& lane : model_.lanes) {
            if (lane.node == story_.node)
                result_.roles.insert(result_.roles.end(), lane.roles.begin(), lane.roles.end());
        }
        leave_out();
        add_waits();
        find_peers();
        return std::move(result_);
    }

private:
    /// Of what happens at one instant, that is in one step, the cause comes first.
    static int rank(const Row& row) {
        if (row.kind == RowKind::received) return 0;
        if (row.shape == MarkShape::suspicion || row.shape == MarkShape::trust) return 1;
        return row.shape == MarkShape::follows && row.peers.empty() ? 2 : 3;
    }

    /// A voter's own records would show what it answers; here it is what it was asked last.
    Look look_of_answer(const TraceRecord& record, Look look) const {
        if (look != Look::grant && look != Look::nack) return look;
        const auto asked = asked_.find({record.peer, record.epoch});
        if (asked == asked_.end()) return look;
        if (asked->second == Look::renewal) return Look::renewal_grant;
        const bool extends = asked->second == Look::announcement && look == Look::grant;
        return extends ? Look::announcement_grant : look;
    }

    void add(const Arrow& arrow) {
        const bool sent = arrow.sending != no_record;
        const std::size_t index = sent ? arrow.sending : arrow.receipt;
        if (index == no_record) return;
        const TraceRecord& record = model_.trace.records[index];
        if (sent && record.kind == "COORDINATOR") asked_[{record.peer, record.epoch}] = arrow.look;
        const Look is = sent ? arrow.look : look_of_answer(record, arrow.look);
        const LookOf& look = look_of(is);
        if (look.weight == Weight::background) return;
        Row row;
        row.kind = sent ? RowKind::sent : RowKind::received;
        row.at = record.t_ns;
        row.peers = {record.peer};
        row.look = is;
        row.text = look.label[0] == '\0' ? record.kind : look.label;
        if (is == Look::nack && !record.word.empty()) row.text += " " + record.word;
        row.tip = formatted("{} {} node {}", record.kind, sent ? "to" : "from", record.peer);
        if (!record.detail.empty()) row.tip += "\n" + record.detail;
        found_[index] = std::move(row);
    }

    void add(const Mark& mark) {
        if (mark.record == no_record) return;
        Row row;
        row.kind = RowKind::mark;
        row.at = mark.at;
        row.shape = mark.shape;
        row.text = mark.label;
        row.tip = mark.tip;
        const bool of_peer = mark.shape == MarkShape::suspicion || mark.shape == MarkShape::trust;
        if (of_peer || mark.shape == MarkShape::follows) row.peers = {mark.about};
        if (mark.about == 0) row.peers.clear();
        if (of_peer) row.text = formatted("node {} is {}", mark.about, mark.label);
        if (mark.shape == MarkShape::suspicion) {
            result_.losses.push_back({mark.about, mark.at, INT64_MAX});
        } else if (mark.shape == MarkShape::trust) {
            for (Loss& loss : result_.losses) {
                if (loss.peer == mark.about) loss.to = std::min(loss.to, mark.at);
            }
        }
        found_[mark.record] = std::move(row);
    }

    /// A message that goes to several peers at once is one row.
    void append(Row row) {
        row.text = shortened(std::move(row.text), text_max);
        row.tip = shortened(std::move(row.tip), tip_max);
        std::vector<Row>& rows = result_.rows;
        if (!rows.empty() && row.kind == RowKind::sent) {
            Row& last = rows.back();
            const bool same = last.kind == RowKind::sent && last.at == row.at &&
                              last.look == row.look && last.text == row.text;
            if (same && std::find(last.peers.begin(), last.peers.end(), row.peers.front()) ==
                            last.peers.end()) {
                last.peers.push_back(row.peers.front());
                return;
            }
        }
        rows.push_back(std::move(row));
    }

    void find_reigns() {
        std::uint64_t leader = story_.from;
        std::int64_t from = result_.begin;
        const auto close = [&](std::int64_t at, std::uint64_t next) {
            if (leader != 0 && at > from) result_.reigns.push_back({leader, from, at});
            leader = next;
            from = at;
        };
        for (const std::size_t i : model_.events) {
            const TraceRecord& record = model_.trace.records[i];
            if (record.kind == "leader") close(record.t_ns, record.leader);
        }
        close(result_.end, 0);
    }

    void leave_out() {
        std::vector<Row>& rows = result_.rows;
        if (rows.size() <= rows_max) return;
        const std::size_t head = rows_max * 2 / 3;
        const std::size_t left_out = rows.size() - rows_max;
        Row row;
        row.kind = RowKind::left_out;
        row.at = rows[head].at;
        row.text = formatted("{} more, left out", left_out);
        const auto first = rows.begin() + static_cast<std::ptrdiff_t>(head);
        rows.erase(first, first + static_cast<std::ptrdiff_t>(left_out));
        rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(head), std::move(row));
    }

    void add_waits() {
        std::vector<Row> rows;
        for (Row& row : result_.rows) {
            const std::int64_t before = rows.empty() ? row.at : rows.back().at;
            if (row.at - before >= wait_min) {
                Row wait;
                wait.at = before + (row.at - before) / 2;
                wait.text = rounded_duration(row.at - before);
                rows.push_back(std::move(wait));
            }
            rows.push_back(std::move(row));
        }
        result_.rows = std::move(rows);
    }

    void find_peers() {
        std::set<std::uint64_t> peers{story_.from, story_.to};
        for (const Row& row : result_.rows) peers.insert(row.peers.begin(), row.peers.end());
        for (const Reign& reign : result_.reigns) peers.insert(reign.leader);
        peers.erase(0);
        peers.erase(story_.node);
        result_.peers.assign(peers.begin(), peers.end());
        if (result_.peers.size() > peers_max) result_.peers.resize(peers_max);
    }

    const Model& model_;
    const FailoverStory& story_;
    std::map<std::size_t, Row> found_;                               // by record
    std::map<std::pair<std::uint64_t, std::uint64_t>, Look> asked_;  // by voter and epoch
    FailoverRows result_;
};

}  // namespace

FailoverRows failover_rows(const std::vector<TraceRecord>& records, const FailoverStory& story) {
    Trace trace = own_trace(records, story);
    if (trace.records.empty()) {
        FailoverRows nothing;
        nothing.begin = std::min(story.lost_ns, story.found_ns);
        nothing.end = std::max(story.lost_ns, story.found_ns);
        return nothing;
    }
    const Model model = make_model(std::move(trace));
    return RowMaker(model, story).make();
}

}  // namespace bullring::protocol::diagram
