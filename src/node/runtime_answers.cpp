// Answers questions about a node: those of observers, and those that come by HTTP.
#include <asio/dispatch.hpp>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/duplicate.hpp"
#include "src/node/drill_faults.hpp"
#include "src/node/runtime.hpp"

namespace bullring {

using protocol::Instant;

void Runtime::answer(const protocol::ResignAnswer& what) {
    switch (what.request.asker) {
        case protocol::Asker::none: return;
        case protocol::Asker::observer: return observers_.on_resign_answer(what);
        case protocol::Asker::http: return showcase_->resign_answered(what);
        case protocol::Asker::host:
            for (NodeListener* one : listeners_) one->resign_answered(what);
    }
}

void Runtime::answer(const protocol::MembersAnswer& what) {
    if (what.request.asker == protocol::Asker::observer) observers_.on_members_answer(what);
}

// ---- The members.

void Runtime::change_members(const protocol::MemberChange& change, protocol::RequestId request) {
    if (!change.address.empty() && !parse_endpoint(change.address))
        return answer(protocol::MembersAnswer{
            request, false, "'" + change.address + "' is no address; write HOST:PORT", true});
    if (const auto endpoint = parse_endpoint(change.address);
        endpoint && is_unspecified(endpoint->host))
        return answer(
            protocol::MembersAnswer{request, false,
                                    "'" + change.address +
                                        "' is an address that nobody else can dial; write that of "
                                        "one interface, or a name",
                                    true});
    on_event(protocol::MembersRequested{change, request});
}

void Runtime::deal_with(const protocol::Membership& members) {
    const Instant now = read_clock();
    const protocol::Parts& node = node_.parts();
    const std::string wrong = members_.follow(members, [&](protocol::NodeId id) {
        const auto index = node.setup.members().index(id);
        return index && node.peers.connected(*index, now);
    });
    if (!wrong.empty()) log(LogLevel::warn, wrong);
    if (const auto shortage = descriptor_shortage(descriptors_needed(members_.peers().size())))
        log_limited(LogLevel::warn, "descriptors", {}, *shortage);
    transport_.follow(members_.peers(), members);
}

// ---- Its work, as it is shown.

void Runtime::task_runs(bool runs, const std::string& end) {
    if (showcase_ != nullptr) showcase_->counts().task_runs(runs);
    asio::dispatch(io_, [this, runs, end] {
        if (runs)
            task_.began(read_clock());
        else
            task_.ended(read_clock(), end);
    });
}

void Runtime::attached(std::size_t candidates, const std::optional<AttachedHolder>& holder) {
    task_.attached(candidates, holder);
    if (showcase_ != nullptr) showcase_->counts().attached(candidates, holder.has_value());
}

// ---- By HTTP.

void Runtime::wait_for_question() {
    if (showcase_ == nullptr) return;
    if (!asked_) asked_.emplace(io_, duplicate(showcase_->asked().fd()).release());
    asked_->async_wait(
        asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
            if (error) return;
            showcase_->asked().quiet();
            const auto resign = showcase_->answer(
                {transport_.round_trips(), transport_.credentials({}), task_.shown(read_clock())});
            if (resign) on_event(*resign);
            wait_for_question();
        });
}

protocol::View Runtime::view(Instant now) const {
    protocol::HostReasons reasons = reasons_;
    reasons.unconnected = problems_.text(now);
    protocol::View view = node_.view(now, reasons);
    if (!misplaced_.empty()) view.why = view.wrong = misplaced_;
    const auto add = [&view](const std::string& wrong) {
        view.why += "; " + wrong;
        view.wrong += (view.wrong.empty() ? "" : "; ") + wrong;
    };
    if (!credentials_problem_.empty())
        add("its credentials have been left as they were: " + credentials_problem_);
    if (const LineStream* events = reporter_.stream(); events && events->is_interrupted())
        add("its event stream is interrupted: " + events->problem());
    return view;
}

void Runtime::show(Instant now, const protocol::Event& event,
                   const std::vector<LeaderTurn>& turns) {
    if (std::holds_alternative<protocol::Wake>(event) && wake_timer_.last_due_ns() != 0)
        showcase_->counts().loop_lateness.add({now.boottime_ns - wake_timer_.last_due_ns()});
    counter_->add(event, actions_, turns);
    if (const LineStream* events = reporter_.stream())
        showcase_->counts().events_lost.store(static_cast<std::int64_t>(events->lost()));
    showcase_->remember(now, event, actions_, turns);
    showcase_->show(now, view(now), misplaced_.empty());
}

// ---- To observers.

ObserverSessions::Node Runtime::for_observers() {
    return {[this](protocol::SessionId asker) { return node_status_json(status(asker)); },
            [this](protocol::NodeId to, std::uint64_t request) {
                on_event(protocol::ResignRequested{to, {protocol::Asker::observer, request}});
            },
            [this](const Drill& what) { return drill(what); },
            [this](const protocol::MemberChange& change, std::uint64_t request) {
                change_members(change, {protocol::Asker::observer, request});
            },
            [this] { return node_.parts().cluster_id(); },
            [this](AskedAction action) { reporter_.note(read_clock(), std::move(action)); },
            [this] { reporter_.tell_at_once(); }};
}

void Runtime::on_request(protocol::SessionId observer, const ObserverMessage& what) {
    observers_.on_request(observer, what);
}

ObserverSessions::DrillAnswer Runtime::drill(const Drill& what) {
    return answer_drill(what, options_, node_.view(read_clock(), reasons_), transport_);
}

void Runtime::on_observer_gone(protocol::SessionId observer) { observers_.on_gone(observer); }

StatusInput Runtime::status(protocol::SessionId asker) const {
    const Instant now = read_clock();
    StatusInput input = status_facts(options_);
    input.view = view(now);
    if (const TlsContext* security = transport_.security()) {
        input.certificate_not_after = security->not_after();
        input.credential = security->own();
        input.sessions = transport_.credentials(asker);
    }
    if (const LineStream* events = reporter_.stream()) input.events_lost = events->lost();
    input.task = task_.shown(now);
    input.uptime_ms = protocol::elapsed(started_at_, now).ns / 1'000'000;
    if (asker.value != 0) input.asked_from = transport_.source_of(asker).text;
    return input;
}

}  // namespace bullring
