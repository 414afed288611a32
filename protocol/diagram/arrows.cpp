// Which messages were which: delivered, lost or on their way, and what an election is made of as
// opposed to what never stops.

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "protocol/diagram/model.hpp"

namespace bullring::protocol::diagram {

namespace {

/// Of messages that mean one thing each.
constexpr std::array<std::pair<std::string_view, Look>, 10> plain_looks{
    {{"ELECTION", Look::election},
     {"OK", Look::ok},
     {"DECLINE", Look::decline},
     {"LEADER", Look::leader_is},
     {"TOKEN", Look::token},
     {"RESIGN", Look::resign},
     {"REFUSED", Look::refused},
     {"HELLO", Look::handshake},
     {"HELLO_ACK", Look::handshake},
     {"HB", Look::heartbeat}}};

class ArrowMaker {
public:
    explicit ArrowMaker(Model& model)
        : model_(model), textbook_(model.trace.quorum == "none"), looks_(model.place_of.size()) {}

    void make() {
        const std::vector<TraceRecord>& records = model_.trace.records;
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (records[i].what == RecordKind::send) on_sending(i);
            if (records[i].what == RecordKind::recv) on_receipt(i);
        }
        for (const Death& death : model_.deaths) add_ends_of_connections(death);
        std::stable_sort(model_.arrows.begin(), model_.arrows.end(),
                         [](const Arrow& a, const Arrow& b) { return a.sent < b.sent; });
    }

private:
    using RunAndPeer = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    using Hop = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

    void on_sending(std::size_t i) {
        const TraceRecord& sending = model_.trace.records[i];
        const Look look = look_of_sending(sending);
        looks_[i] = look;
        if (model_.matching.superseded[i]) return;
        Arrow arrow;
        arrow.from = model_.place_of[i];
        arrow.sent = sending.t_ns;
        arrow.look = look;
        arrow.sending = i;
        const std::size_t receipt = model_.matching.partner[i];
        if (receipt != no_record) {
            arrow.to = model_.place_of[receipt];
            arrow.received = model_.trace.records[receipt].t_ns;
            arrow.receipt = receipt;
        } else {
            const auto to = model_.lane_of(sending.peer, sending.t_ns);
            if (!to) return;
            arrow.to = *to;
            arrow.received = arrow.sent;
            // A node with a later line in the trace would have recorded this receipt as well.
            const Lane& lane = model_.lanes[*to];
            const Absence* gone = model_.absence(*to, sending.t_ns);
            const bool known = lane.traced && (lane.last_line > sending.t_ns || gone != nullptr);
            arrow.fate = known ? Fate::lost : Fate::open;
        }
        model_.arrows.push_back(arrow);
    }

    void on_receipt(std::size_t i) {
        const TraceRecord& receipt = model_.trace.records[i];
        const std::size_t sending = model_.matching.partner[i];
        looks_[i] = sending != no_record ? looks_[sending] : look_of_sending(receipt);
        if (receipt.kind == "COORDINATOR") {
            asked_[{receipt.node, receipt.peer, receipt.epoch}] = looks_[i];
        }
        if (sending != no_record) return;
        const auto from = model_.lane_of(receipt.peer, receipt.t_ns);
        if (!from) return;
        Arrow arrow;
        arrow.from = *from;
        arrow.to = model_.place_of[i];
        arrow.sent = arrow.received = receipt.t_ns;
        arrow.fate = Fate::no_sender;
        arrow.look = looks_[i];
        arrow.receipt = i;
        model_.arrows.push_back(arrow);
    }

    /// Also of a receipt whose sending is unknown; then as if its receiver had sent it.
    Look look_of_sending(const TraceRecord& record) {
        for (const auto& [kind, look] : plain_looks) {
            if (record.kind == kind) return look;
        }
        if (record.kind == "COORDINATOR" || record.kind == "CTOKEN") return look_of_request(record);
        if (record.kind == "NACK") {
            // A voter that is silent after its restart refuses each renewal.
            const auto asked = asked_.find({record.node, record.peer, record.epoch});
            const bool of_renewal = asked != asked_.end() && asked->second == Look::renewal;
            return of_renewal ? Look::renewal_grant : Look::nack;
        }
        if (record.kind == "GRANT") {
            // The answer to what was asked last.
            const auto asked = asked_.find({record.node, record.peer, record.epoch});
            if (asked == asked_.end() || asked->second == Look::coordinator) return Look::grant;
            return asked->second == Look::renewal ? Look::renewal_grant : Look::announcement_grant;
        }
        if (record.kind == "TACK") {
            const bool of_renewal = renewal_hops_.count({record.owner, record.round, record.step});
            return of_renewal ? Look::renewal : Look::token_ack;
        }
        return Look::other;
    }

    Look look_of_request(const TraceRecord& record) {
        const bool token = record.kind == "CTOKEN";
        if (!record.renew) return token ? Look::coordinator_token : Look::coordinator;
        // The first renewal announces the leader to its receiver; later ones only go on.
        const bool first = announced_.insert({record.node, record.peer, record.epoch}).second;
        if (textbook_) return Look::textbook;
        if (first) return token ? Look::coordinator_token : Look::announcement;
        if (token) renewal_hops_.insert({record.owner, record.round, record.step});
        return Look::renewal;
    }

    void add_ends_of_connections(const Death& death) {
        if (death.silent) return;
        const std::uint64_t node = model_.lanes[death.lane].node;
        std::int64_t next_life = model_.end;
        for (const Absence& absence : model_.lanes[death.lane].absences) {
            if (absence.from == death.at) next_life = absence.to;
        }
        std::set<Place> told;
        for (const std::size_t i : model_.events) {
            const TraceRecord& record = model_.trace.records[i];
            if (record.kind != "peer_down") continue;
            if (record.peer != node || record.t_ns < death.at || record.t_ns > next_life) continue;
            if (record.word != "eof" && record.word != "reset") continue;
            const Place lane = model_.place_of[i];
            if (lane == no_place || lane == death.lane || !told.insert(lane).second) continue;
            Arrow arrow;
            arrow.from = death.lane;
            arrow.to = lane;
            arrow.sent = death.at;
            arrow.received = record.t_ns;
            arrow.look = record.word == "eof" ? Look::fin : Look::reset;
            model_.arrows.push_back(arrow);
        }
    }

    Model& model_;
    bool textbook_;
    std::vector<Look> looks_;           // by record
    std::map<RunAndPeer, Look> asked_;  // by voter, holder, epoch: the last request it received
    std::set<RunAndPeer> announced_;    // by holder, receiver, epoch
    std::set<Hop> renewal_hops_;        // by owner, round, step
};

}  // namespace

void make_arrows(Model& model) { ArrowMaker(model).make(); }

}  // namespace bullring::protocol::diagram
