#include "src/node/showcase.hpp"

#include <utility>

namespace bullring {

namespace {

/// A copied value takes the memory of an older one.
template <class T, class Value>
void hand_over(Latest<T>& to, Value&& value) {
    to.next() = std::forward<Value>(value);
    to.publish();
}

}  // namespace

void Showcase::publish(const protocol::Publish& publish) {
    lease_.write(publish.epoch ? LeaseSnapshot{publish.epoch, publish.deadline} : LeaseSnapshot{});
}

void Showcase::show(protocol::Instant now, protocol::View view, bool sound) {
    hand_over(views_, ShownView{now, std::move(view), sound});
    if (recent_.count == shown_changes_) return;
    shown_changes_ = recent_.count;
    hand_over(changes_, recent_);
    changed_.ring();
}

void Showcase::remember(protocol::Instant now, const protocol::Event& event,
                        const std::vector<protocol::Action>& actions,
                        const std::vector<LeaderTurn>& turns) {
    failovers_.add(now, event, actions, turns);
    for (const LeaderTurn& turn : turns) recent_.last[recent_.count++ % RecentChanges::kept] = turn;
}

void Showcase::resign_answered(const protocol::ResignAnswer& answer) {
    hand_over(resign_answers_, answer);
    changed_.ring();
}

std::optional<protocol::ResignRequested> Showcase::answer(Connected connected) {
    const std::uint64_t questions = questions_.load();
    hand_over(connected_, std::move(connected));
    const protocol::ResignRequested resign = resigns_.read();
    const bool is_new = resign.request.number > resigns_seen_;
    if (is_new) resigns_seen_ = resign.request.number;
    answered_.store(questions);
    changed_.ring();
    return is_new ? std::optional(resign) : std::nullopt;
}

std::uint64_t Showcase::ask() {
    const std::uint64_t number = questions_.fetch_add(1) + 1;
    asked_.ring();
    return number;
}

std::uint64_t Showcase::ask_to_resign(protocol::NodeId to) {
    hand_over(resigns_, protocol::ResignRequested{to, {protocol::Asker::http, ++resigns_asked_}});
    ask();
    return resigns_asked_;
}

}  // namespace bullring
