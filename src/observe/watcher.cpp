#include "src/observe/watcher.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <variant>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "protocol/values/dialling.hpp"
#include "src/base/os/clock.hpp"
#include "src/observe/asking.hpp"
#include "src/observe/observer_client.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {

namespace {

// A member sends its state at once, and again at least every second.
constexpr protocol::Duration first_state_max = protocol::seconds(1);
constexpr protocol::Duration silence_max = protocol::seconds(3);
// Nobody can be reached for this long: then no leader is known any more.
constexpr protocol::Duration unreachable_max = protocol::seconds(3);
// A member that knows no leader for longer may be cut off, or no member any more. Where nobody
// leads, many watchers that go from member to member cost an election something.
constexpr protocol::Duration leaderless_first = protocol::seconds(3);
constexpr protocol::Duration leaderless_last = protocol::seconds(30);
// The member that is followed is asked this often who the members are.
constexpr protocol::Duration learn_every = protocol::seconds(10);

protocol::Duration steady_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

bool is_due(const std::optional<protocol::Duration>& last, protocol::Duration every) {
    return !last || steady_now() - *last > every;
}

}  // namespace

Watcher::Watcher(ObserverLoop& loop, const PeerList& peers, std::string cluster,
                 Callbacks callbacks)
    : loop_(loop),
      peers_(peers),
      members_(peers.begin(), peers.end()),
      cluster_(std::move(cluster)),
      callbacks_(std::move(callbacks)),
      rng_(random_bits()),
      pause_timer_(loop.io),
      pause_(protocol::dial_pause_min),
      leaderless_max_(leaderless_first) {}

asio::awaitable<void> Watcher::run() {
    // Many watchers spread over the members.
    Member member = members_[rng_.below(members_.size())];
    std::size_t in_vain = 0;
    last_heard_ = steady_now();
    while (!stopped_) {
        const protocol::Duration begin = steady_now();
        const bool heard = co_await follow(member);
        sequence_.on_switch();
        member = next_after(member);
        if (heard && steady_now() - begin > protocol::seconds(1)) {
            in_vain = 0;
            pause_ = protocol::dial_pause_min;
            continue;
        }
        if (++in_vain < members_.size()) continue;
        in_vain = 0;
        // They may have come back, with the old list.
        for (const auto& [id, endpoint] : peers_) also(id, endpoint);
        note_unreachable();
        co_await pause();
    }
}

void Watcher::stop() {
    stopped_ = true;
    pause_timer_.cancel();
    if (link_ != nullptr) link_->cancel();
}

/// Until this member is of no more use. True when it has sent its state at least once.
asio::awaitable<bool> Watcher::follow(Member member) {
    learned_.reset();
    leaderless_since_.reset();
    ObserverLink link(loop_);
    link_ = &link;
    ObserverMessage request = Observe{cluster_, ObserveWhat::watch, protocol::nobody};
    const auto opened = co_await link.open(member.first, member.second, std::move(request),
                                           deadline_in(first_state_max));
    if (!opened && opened.error().refused)
        callbacks_.refused(member.first, to_text(member.second), opened.error().why);
    bool heard = false;
    while (opened && !stopped_) {
        const auto received =
            co_await link.receive(deadline_in(heard ? silence_max : first_state_max));
        if (!received) {
            if (received.error().refused)
                callbacks_.refused(member.first, to_text(member.second), received.error().why);
            break;
        }
        if (const auto* refused = std::get_if<ObserverRefused>(&received->message)) {
            // It was one, and knows who the others are.
            if (refused->field == no_member_field && co_await is_no_member(member)) break;
            callbacks_.refused(member.first, to_text(member.second), difference(*refused));
            break;
        }
        const auto* state = std::get_if<ObserverChange>(&received->message);
        if (state == nullptr) break;
        if (!co_await is_of_this_cluster(state->cluster_id)) {
            callbacks_.refused(member.first, to_text(member.second),
                               fmt::format("it is of another cluster of this name, with the id {}; "
                                           "that of most members is {}",
                                           to_text(state->cluster_id), to_text(cluster_id_)));
            break;
        }
        // Not with the first state: all watchers of a leader that has died come to the next member
        // together, and a question of each would hold up the election.
        if (heard && is_due(learned_, learn_every) && co_await is_no_member(member)) break;
        heard = true;
        unreachable_said_ = false;
        last_heard_ = steady_now();
        tell(sequence_.on_state(*state, last_heard_));
        callbacks_.heard();
        if (knows_nothing(*state)) break;
    }
    link_ = nullptr;
    co_return heard;
}

bool Watcher::knows_nothing(const ObserverChange& state) {
    if (state.leader) {
        leaderless_since_.reset();
        leaderless_max_ = leaderless_first;
        return false;
    }
    if (!leaderless_since_) leaderless_since_ = last_heard_;
    if (last_heard_ - *leaderless_since_ <= leaderless_max_) return false;
    leaderless_max_ = std::min(leaderless_max_ * 2, leaderless_last);
    return true;
}

/// By its own list.
asio::awaitable<bool> Watcher::is_no_member(Member member) {
    learned_ = steady_now();
    const PeerList only{member};
    const std::vector<MemberAnswer> answers =
        co_await ask_only(loop_, only, cluster_, deadline_in(first_state_max));
    const std::optional<NodeAnswer>& answer = answers.front().answer;
    if (!answer || !answer->list.changed()) co_return false;
    if (cluster_id_ && answer->cluster_id != cluster_id_) co_return false;
    take_list(answer->list);
    co_return answer->list.find(member.first) == nullptr;
}

asio::awaitable<bool> Watcher::is_of_this_cluster(protocol::ClusterId id) {
    if (!id || id == cluster_id_) co_return true;
    const Enough known = [](const auto& so_far) { return bool(meant_cluster_id(so_far)); };
    const bool is_known = bool(cluster_id_);
    std::vector<MemberAnswer> answers;
    if (is_known)
        answers = co_await ask_only(loop_, peers_, cluster_, deadline_in(first_state_max));
    else
        answers =
            co_await ask_members(loop_, peers_, cluster_, deadline_in(first_state_max), known);
    const protocol::ClusterId meant = meant_cluster_id(answers);
    // The one that is watched is not given up for the few that answer while its own are away.
    if (meant && (!is_known || most_are_of_one_cluster(answers))) cluster_id_ = meant;
    co_return !cluster_id_ || id == cluster_id_;
}

void Watcher::take_list(const protocol::Membership& list) {
    if (list.is_of_other_cluster_than(list_) || list.tag() <= list_.tag()) return;
    list_ = list;
    members_.clear();
    for (const protocol::MemberEntry& member : list.entries()) {
        const auto given = peers_.find(member.id);
        if (given != peers_.end()) also(member.id, given->second);
        if (const auto endpoint = parse_endpoint(member.address)) also(member.id, *endpoint);
    }
    if (members_.empty()) members_.assign(peers_.begin(), peers_.end());
}

void Watcher::also(protocol::NodeId id, const Endpoint& endpoint) {
    if (const Member member{id, endpoint};
        std::find(members_.begin(), members_.end(), member) == members_.end())
        members_.push_back(member);
}

Watcher::Member Watcher::next_after(const Member& member) const {
    const auto found = std::find(members_.begin(), members_.end(), member);
    return found == members_.end() || std::next(found) == members_.end() ? members_.front()
                                                                         : *std::next(found);
}

void Watcher::note_unreachable() {
    if (stopped_ || steady_now() - last_heard_ < unreachable_max) return;
    tell(sequence_.on_nobody_reachable(read_clock().boottime_ns));
    callbacks_.heard();
    if (stopped_ || unreachable_said_) return;
    unreachable_said_ = true;
    callbacks_.unreachable();
}

asio::awaitable<void> Watcher::pause() {
    if (stopped_) co_return;
    const protocol::Duration length =
        std::min(pause_ + rng_.up_to(pause_ / 2), protocol::dial_pause_max);
    pause_ = std::min(pause_ * 2, protocol::dial_pause_max);
    pause_timer_.expires_after(std::chrono::nanoseconds(length.ns));
    asio::error_code ignored;
    co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void Watcher::tell(const std::optional<ObserverChange>& change) {
    if (change && !stopped_) callbacks_.change(*change);
}

}  // namespace bullring
