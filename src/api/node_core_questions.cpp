// The questions that a user can ask at any time, from any thread.
#include <utility>

#include "src/api/administrator_settings.hpp"
#include "src/api/deadline.hpp"
#include "src/api/member_list.hpp"
#include "src/api/node_core.hpp"
#include "src/base/os/clock.hpp"

namespace bullring {

namespace {

/// How often who waits for the loop looks whether there still is one.
constexpr std::chrono::milliseconds look_for_loop_every{20};

Status status_of(const StatusInput& input) {
    Status status;
    status.role = protocol::name(input.view.role);
    if (input.view.role == protocol::Role::stepping_down) status.role = "follower";
    if (input.view.leader)
        status.leader =
            Leader{input.view.leader.value, input.view.epoch.value, input.view.advertised};
    status.lease_left = std::chrono::nanoseconds(input.view.lease_left.ns);
    for (const protocol::NodeId id : input.view.members.ids())
        if (const auto index = input.view.members.index(id);
            index && input.view.connected.contains(*index))
            status.peers_up.push_back(id.value);
    status.why = input.view.why;
    return status;
}

Resignation not_running() { return {false, true, "the node is not running"}; }

}  // namespace

template <class Value, class Ask>
std::optional<Value> NodeCore::ask_loop(Ask ask) const {
    struct Answer {
        std::mutex mutex;
        std::condition_variable changed;
        std::optional<Value> value;
    };
    const auto answer = std::make_shared<Answer>();
    {
        const std::lock_guard lock(mutex_);
        if (life_ != Life::running || !runtime_) return std::nullopt;
        runtime_->run_soon([question = ask(*runtime_), answer] {
            Value value = question();
            const std::lock_guard answered(answer->mutex);
            answer->value = std::move(value);
            answer->changed.notify_all();
        });
    }
    std::unique_lock lock(answer->mutex);
    while (!answer->value) {
        answer->changed.wait_for(lock, look_for_loop_every);
        const std::lock_guard own(mutex_);
        if ((life_ != Life::running || loop_ended_) && !answer->value) return std::nullopt;
    }
    return answer->value;
}

std::optional<Leader> NodeCore::leader() const {
    const std::lock_guard lock(mutex_);
    return leader_;
}

Subscription NodeCore::subscribe(ChangeCallback callback) {
    Change now;
    now.at = std::chrono::nanoseconds(read_clock().boottime_ns);
    const std::lock_guard lock(mutex_);
    // The last report to the others, so that the next one is a change for this one, too.
    now.leader = reported_leader_;
    now.epoch = reported_epoch_;
    return subscribers_->add(std::move(callback), std::move(now));
}

Resignation NodeCore::resign(std::uint64_t to, std::chrono::nanoseconds timeout) {
    if (timeout <= std::chrono::nanoseconds(0) || must_not_wait()) return ask_to_resign(to);
    Resignation result{false, false, "not done within the time given"};
    std::unique_lock lock(mutex_);
    if (life_ != Life::running || !runtime_) return not_running();
    const std::uint64_t request = ++last_resign_;
    resigns_[request] = &result;
    try {
        runtime_->tell(protocol::ResignRequested{{to}, {protocol::Asker::host, request}});
    } catch (...) {
        resigns_.erase(request);
        throw;
    }
    changed_.wait_until(lock, deadline_after(timeout), [&] { return !resigns_.contains(request); });
    resigns_.erase(request);
    return result;
}

Resignation NodeCore::ask_to_resign(std::uint64_t to) {
    // A later question to the loop finds the loop's refusal of this request, if there is one.
    const std::optional<Resignation> said = ask_loop<Resignation>([this, to](Runtime& runtime) {
        const std::uint64_t request = ++last_resign_;
        runtime.tell(protocol::ResignRequested{{to}, {protocol::Asker::host, request}});
        return [this, request] {
            if (refused_ && refused_->request.number == request)
                return Resignation{false, true, refused_->why};
            return Resignation{false, false,
                               "asked for; the leadership ends when the task has returned"};
        };
    });
    return said.value_or(not_running());
}

Status NodeCore::status() const {
    Status none;
    none.role = "stopped";
    none.why = "not started, or stopped";
    return ask_loop<Status>(
               [](Runtime& runtime) { return [&runtime] { return status_of(runtime.status()); }; })
        .value_or(none);
}

MemberList NodeCore::members() const {
    return ask_loop<MemberList>([](Runtime& runtime) {
               return [&runtime] { return described(runtime.status().view.list); };
           })
        .value_or(MemberList{{}, {}, not_running().why});
}

Administrator NodeCore::administrator() const {
    const NodeOptions& node = options_.node;
    auto settings = std::make_unique<AdministratorSettings>(AdministratorSettings{
        {node.peers, node.config.cluster, node.security, {.level = LogLevel::error}},
        node.config.self,
        node.data_dir});
    // All that `peers` has may have been replaced since.
    for (const ListedMember& member : members().members)
        if (const auto address = parse_endpoint(member.address))
            settings->cluster.peers.try_emplace({member.id}, *address);
    return Administrator(std::move(settings));
}

}  // namespace bullring
