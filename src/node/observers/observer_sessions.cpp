#include "src/node/observers/observer_sessions.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <asio/post.hpp>

#include "protocol/values/difference.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/text/text.hpp"

namespace bullring {

using protocol::SessionId;

namespace {

constexpr std::size_t observers_max = 256;
/// An election in a quiet network is over by then.
constexpr std::chrono::milliseconds write_delay{2};
/// One of them costs some microseconds of system call.
constexpr int watchers_in_one_turn = 8;
constexpr std::chrono::seconds keep_alive_every{1};
constexpr const char* administrators_only =
    "only an administrator may ask for that, with a certificate for it or with the cluster's key";

/// A member's certificate is made for that member: its owner may ask for its own place in the list.
bool joins(const protocol::MemberChange& change, protocol::NodeId member) {
    using What = protocol::MemberChange::What;
    return member && change.id == member &&
           (change.what == What::add || change.what == What::address ||
            change.what == What::promote);
}

std::string as_typed(const protocol::MemberChange& change) {
    const std::string id = std::to_string(change.id.value);
    return std::string("member ") + name(change.what) + " " + id +
           (change.address.empty() ? "" : "=" + one_line(change.address));
}

std::string as_typed(const Drill& drill) {
    switch (drill.what) {
        case DrillRequest::permission: return "drill";
        case DrillRequest::crash: return "drill --faults crash";
        case DrillRequest::hang: return "drill --faults hang";
        case DrillRequest::resign: return "drill --faults resign";
        case DrillRequest::cut: return "drill --faults cut";
    }
    return "drill";
}

ObserverRefused not_a_member() { return {no_member_field, "removed", ""}; }

}  // namespace

ObserverSessions::ObserverSessions(asio::io_context& io, Transport& transport, Sender self,
                                   std::string cluster, ObserverChange now, Node node)
    : io_(io),
      transport_(transport),
      self_(self),
      cluster_(std::move(cluster)),
      node_(std::move(node)),
      current_(std::move(now)),
      delay_(io),
      keep_alive_(io) {}

bool ObserverSessions::admit(SessionId observer, const std::string& its_cluster) {
    // An observer by this node's own directory need not know the cluster's name.
    const bool named = !its_cluster.empty() || !transport_.is_local(observer);
    if (named && its_cluster != cluster_) {
        const LogSource source = transport_.source_of(observer);
        log_limited(LogLevel::info, "observer of another cluster", source,
                    "refused an observer of cluster '" + its_cluster + "' from " + source.text);
        // A caller that is not on a member's host must not learn of a cluster by guessing.
        answer_and_close(observer,
                         ObserverRefused{"cluster", source.member ? cluster_ : "", its_cluster});
        return false;
    }
    if (observers_.size() >= observers_max) {
        log_limited(LogLevel::warn, "observers", {}, "refused an observer: there are already 256");
        answer_and_close(observer, ObserverRefused{"observers", "at most 256", "one more"});
        return false;
    }
    observers_.insert(observer);
    return true;
}

void ObserverSessions::on_request(SessionId observer, const ObserverMessage& what) {
    if (const auto* observe = std::get_if<Observe>(&what)) return on_observe(observer, *observe);
    if (const auto* drill = std::get_if<Drill>(&what)) return on_drill(observer, *drill);
    if (const auto* change = std::get_if<ChangeMembers>(&what))
        return on_change_members(observer, *change);
}

void ObserverSessions::on_observe(SessionId observer, const Observe& what) {
    if (!admit(observer, what.cluster)) return;
    switch (what.what) {
        case ObserveWhat::status:
            return answer_and_close(observer, ObserverState{node_.status_json(observer)});
        case ObserveWhat::watch: return add_watcher(observer);
        case ObserveWhat::resign:
            return ask_to_resign(observer, what.resign_to, resign_text(what.resign_to));
    }
}

void ObserverSessions::on_drill(SessionId observer, const Drill& what) {
    if (!admit(observer, what.cluster)) return;
    AskedAction action = asked(observer, as_typed(what));
    if (!transport_.may_command(observer))
        return turn_down(observer, std::move(action), AskedAction::Answer::refused,
                         administrators_only, DrillResult{false, administrators_only, {}, 0});
    const DrillAnswer answer = node_.drill(what);
    if (!answer.result.done)
        return turn_down(observer, std::move(action), AskedAction::Answer::failed,
                         answer.result.why, answer.result);
    if (what.what == DrillRequest::resign)
        return ask_to_resign(observer, protocol::nobody, as_typed(what));
    node_.was_asked(std::move(action));
    // Before the answer, from which a drill counts the time without a leader.
    if (answer.act) node_.tell_at_once();
    answer_and_close(observer, answer.result);
    if (answer.act) answer.act();
}

void ObserverSessions::on_change_members(SessionId observer, const ChangeMembers& what) {
    if (!admit(observer, what.cluster)) return;
    const std::string typed = as_typed(what.change);
    if (!transport_.may_command(observer) &&
        !joins(what.change, transport_.certified_member(observer)))
        return turn_down(observer, asked(observer, typed), AskedAction::Answer::refused,
                         administrators_only, ChangeResult{false, administrators_only, true});
    const protocol::ClusterId ours = node_.cluster_id();
    if (protocol::are_of_different_clusters(ours, what.cluster_id))
        return answer_and_close(observer, ObserverRefused{name(protocol::Difference::cluster_id),
                                                          to_text(ours), to_text(what.cluster_id)});
    if (what.cluster_id && !ours)
        return answer_and_close(
            observer, ChangeResult{false, "it does not know its cluster's id yet", false});
    node_.change_members(what.change, expect_answer(observer, typed));
}

void ObserverSessions::ask_to_resign(SessionId observer, protocol::NodeId to, std::string what) {
    if (!transport_.may_command(observer))
        return turn_down(observer, asked(observer, std::move(what)), AskedAction::Answer::refused,
                         administrators_only, ResignResult{false, administrators_only, true});
    if (const auto wait = resign_limit_.take(std::chrono::steady_clock::now())) {
        const auto ms = std::chrono::ceil<std::chrono::milliseconds>(*wait).count();
        const std::string why = "it was asked to hand over too often; it may be asked again in " +
                                std::to_string(ms) + "ms";
        return turn_down(observer, asked(observer, std::move(what)), AskedAction::Answer::failed,
                         why, ResignResult{false, why, false});
    }
    node_.resign(to, expect_answer(observer, std::move(what)));
}

AskedAction ObserverSessions::asked(SessionId observer, std::string what) const {
    return {std::move(what), transport_.caller_of(observer), AskedAction::Answer::done, ""};
}

void ObserverSessions::turn_down(SessionId observer, AskedAction action, AskedAction::Answer how,
                                 const std::string& why, const ObserverMessage& answer) {
    action.answer = how;
    action.why = why;
    node_.was_asked(std::move(action));
    answer_and_close(observer, answer);
}

std::uint64_t ObserverSessions::expect_answer(SessionId observer, std::string what) {
    requests_.emplace(++last_request_, Request{observer, asked(observer, std::move(what))});
    return last_request_;
}

void ObserverSessions::on_gone(SessionId observer) {
    observers_.erase(observer);
    watchers_.erase(observer);
    for (auto& [number, request] : requests_)
        if (request.observer == observer) request.observer = protocol::no_session;
}

void ObserverSessions::on_change(const ObserverChange& change) {
    current_ = change;
    if (watchers_.empty()) return;
    append(state());
}

void ObserverSessions::on_resign_answer(const protocol::ResignAnswer& answer) {
    if (!answer.done) resign_limit_.give_back();  // it has cost nobody anything
    answer_request(answer.request, answer.done, answer.why,
                   ResignResult{answer.done, answer.why, answer.lasting});
}

void ObserverSessions::on_members_answer(const protocol::MembersAnswer& answer) {
    answer_request(answer.request, answer.done, answer.why,
                   ChangeResult{answer.done, answer.why, answer.lasting});
}

void ObserverSessions::answer_request(protocol::RequestId number, bool done, const std::string& why,
                                      const ObserverMessage& answer) {
    const auto found = requests_.find(number.number);
    if (found == requests_.end()) return;
    Request request = std::move(found->second);
    requests_.erase(found);
    if (!done) {
        request.action.answer = AskedAction::Answer::failed;
        request.action.why = why;
    }
    node_.was_asked(std::move(request.action));
    if (request.observer) answer_and_close(request.observer, answer);
}

ObserverSessions::Bytes ObserverSessions::encoded(const ObserverMessage& message) const {
    Bytes frame;
    encode(self_, message, frame);
    return frame;
}

ObserverSessions::Bytes ObserverSessions::state() {
    current_.cluster_id = node_.cluster_id();
    return encoded(current_);
}

void ObserverSessions::answer_and_close(SessionId observer, const ObserverMessage& message) {
    transport_.send_to_observer(observer, encoded(message));
    transport_.close(observer);
    observers_.erase(observer);
}

// ---- Watchers.

void ObserverSessions::set_removed(bool removed) {
    removed_ = removed;
    if (!removed) return;
    for (const auto& [watcher, line] : std::exchange(watchers_, {}))
        answer_and_close(watcher, not_a_member());
}

void ObserverSessions::add_watcher(SessionId observer) {
    if (removed_) return answer_and_close(observer, not_a_member());
    const std::uint64_t next = first_line_ + lines_.size();
    watchers_.emplace(observer, next);
    if (!transport_.send_to_observer(observer, state())) return on_gone(observer);
    transport_.flush();
    keep_alive_later();
}

void ObserverSessions::append(Bytes frame) {
    lines_.push_back(std::move(frame));
    write_later();
}

void ObserverSessions::write_later() {
    if (writing_) return;
    writing_ = true;
    cursor_ = protocol::no_session;
    delay_.expires_after(write_delay);
    delay_.async_wait([this](const asio::error_code& error) {
        if (!error) write_some();
    });
}

void ObserverSessions::write_some() {
    const std::uint64_t end = first_line_ + lines_.size();
    for (int turn = 0; turn < watchers_in_one_turn;) {
        const auto next = watchers_.upper_bound(cursor_);
        if (next == watchers_.end()) {
            // All have been visited; those before the cursor lack what came meanwhile.
            std::uint64_t needed = end;
            for (const auto& [watcher, line] : watchers_) needed = std::min(needed, line);
            while (first_line_ < needed) {
                lines_.pop_front();
                ++first_line_;
            }
            writing_ = false;
            if (!lines_.empty()) write_later();
            return;
        }
        cursor_ = next->first;
        if (next->second == end) continue;
        ++turn;
        std::uint64_t line = next->second;
        if (!write_to(cursor_, line)) continue;
        const auto still = watchers_.find(cursor_);
        if (still != watchers_.end()) still->second = line;
    }
    asio::post(io_, [this] { write_some(); });
}

bool ObserverSessions::write_to(SessionId watcher, std::uint64_t& next) {
    const std::uint64_t end = first_line_ + lines_.size();
    while (next < end && watchers_.contains(watcher)) {
        const Bytes& line = lines_[static_cast<std::size_t>(next - first_line_)];
        if (!transport_.send_to_observer(watcher, line)) {
            if (watchers_.contains(watcher)) on_gone(watcher);
            return false;
        }
        ++next;
    }
    transport_.flush();  // all lines of one watcher in one write
    return true;
}

void ObserverSessions::keep_alive_later() {
    if (keeping_alive_) return;
    keeping_alive_ = true;
    keep_alive_.expires_after(keep_alive_every);
    keep_alive_.async_wait([this](const asio::error_code& error) {
        keeping_alive_ = false;
        if (error || watchers_.empty()) return;
        append(state());
        keep_alive_later();
    });
}

}  // namespace bullring
