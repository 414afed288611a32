#include "src/task/attach/attach_server.hpp"

#include <chrono>
#include <system_error>
#include <utility>
#include <variant>

#include <asio/dispatch.hpp>
#include <asio/post.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/settings/data_files.hpp"

namespace bullring {

using protocol::Candidacies;
using protocol::ClientId;
using protocol::Epoch;

namespace {

/// Whom the node follows is told to the clients a little later, a few at a time: an election must
/// not wait for them.
constexpr std::chrono::milliseconds leader_told_after{2};
constexpr int clients_told_at_once = 16;

}  // namespace

AttachServer::AttachServer(asio::io_context& io, NodeLink& node, const NodeOptions& options,
                           LoopPulse& pulse, const ClientGuard::Parts& guard,
                           const MakeHost& make_inner, bool own_task)
    : HostAround(node),
      io_(io),
      options_(options),
      pulse_(pulse),
      own_task_(own_task),
      candidacies_(options.config.timing, own_task, options.hooks.any()),
      guard_(io, guard, pulse, options.config.timing),
      listener_(io, options, {attach_socket_name, SOCK_STREAM, options.attach.group},
                [this](OwnedFd socket) { admit(std::move(socket)); }),
      leader_timer_(io),
      look_timer_(io, [this] { on_look(); }) {
    if (const auto opened = listener_.open(); !opened)
        log(LogLevel::warn, "no process can attach to this node: " + opened.error());
    node.listen(*this);
    enclose(io, make_inner);
    obey(candidacies_.on_open());
}

AttachServer::~AttachServer() {
    clients_.clear();  // they hear of the end first
    listener_.close();
    end_inner();
}

// ---- The socket.

/// Those that are connected stay.
void AttachServer::file_removed(const std::string& name) {
    HostAround::file_removed(name);
    listener_.file_removed(name);
}

void AttachServer::admit(OwnedFd socket) {
    if (clients_.size() >= clients_max) {
        const std::string full = attach_error_line(
            fmt::format("{} processes are attached already, which is the limit", clients_max));
        ::send(socket.get(), full.data(), full.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    auto page = AttachPage::create();
    if (!page) {
        const std::string error = attach_error_line("cannot make a page: " +
                                                    std::generic_category().message(page.error()));
        ::send(socket.get(), error.data(), error.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    const ClientId id{++last_id_};
    const auto client =
        std::make_shared<AttachClient>(io_, id, std::move(socket), std::move(*page));
    clients_.emplace(id, client);
    client->start(
        attached_line(options_.config.self, options_.config.cluster),
        {[this, one = client.get()](std::string_view line) { on_line(*one, line); },
         [this, id] { on_lost(id); }, [this, id] { on_closed(id); }, [this, id] { on_ended(id); }});
    client->send(attach_leader_line(leader_.leader, leader_.epoch, leader_.advertised));
}

// ---- The clients.

void AttachServer::on_line(AttachClient& client, std::string_view line) {
    const auto request = attach_request_in(line);
    if (!request) return client.send(attach_error_line(request.error()));
    on_request(client, *request);
}

void AttachServer::on_request(AttachClient& client, const AttachRequest& request) {
    const protocol::Instant now = read_clock();
    const auto refuse = [&](std::string_view why) { client.send(attach_error_line(why)); };
    constexpr std::string_view not_leading = "this process does not lead";
    Candidacies::Orders orders;
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, AttachCampaign>) {
                if (const std::string why = campaign(client, what, orders); !why.empty())
                    refuse(why);
            } else if constexpr (std::is_same_v<What, AttachProgress>) {
                // It may come just behind the end of the leadership.
                static_cast<void>(candidacies_.on_progress(now, client.id()));
            } else if constexpr (std::is_same_v<What, AttachDone>) {
                client.owes_done = false;
                if (!candidacies_.on_done(now, client.id(), what.again, orders))
                    refuse(not_leading);
            } else if constexpr (std::is_same_v<What, AttachResign>) {
                if (candidacies_.works() != client.id()) return refuse(not_leading);
                resigns_[++last_resign_] = client.id();
                node().tell(protocol::ResignRequested{protocol::nobody,
                                                      {protocol::Asker::host, last_resign_}});
            } else {
                client.send(attach_leader_line(leader_.leader, leader_.epoch, leader_.advertised));
            }
        },
        request);
    obey(orders);
}

/// The reason why not, if it can't.
std::string AttachServer::campaign(AttachClient& client, const AttachCampaign& asked,
                                   Candidacies::Orders& orders) {
    if (asked.ends_with_node)
        if (const auto prepared = guard_.prepare(client.process()); !prepared)
            return "\"on_loss\" is \"kill\": " + prepared.error();
    if (!candidacies_.on_campaign(read_clock(), client.id(), asked.candidacy, orders))
        return "this connection has a candidacy already, which \"done\" ends";
    client.ends_with_node = asked.ends_with_node;
    return {};
}

void AttachServer::resign_answered(const protocol::ResignAnswer& answer) {
    const auto asked = resigns_.find(answer.request.number);
    if (asked == resigns_.end()) return;
    AttachClient* const client = find(asked->second);
    resigns_.erase(asked);
    if (client != nullptr && !answer.done) client->send(attach_error_line(answer.why));
}

/// Nobody waits for the end of a process that does not lead, unless it may have been killed for
/// that.
void AttachServer::on_lost(ClientId id) {
    const AttachClient& client = *find(id);
    const bool awaited = candidacies_.works() == id || (client.ends_with_node && client.owes_done);
    if (!awaited) on_closed(id);
}

void AttachServer::on_closed(ClientId id) {
    AttachClient* const client = find(id);
    if (client == nullptr) return;
    const bool works = candidacies_.works() == id;
    obey(candidacies_.on_closed(read_clock(), id));
    // Of the one that works its process counts.
    if (!works || candidacies_.works() != id) drop(id);
}

void AttachServer::on_ended(ClientId id) {
    const AttachClient& client = *find(id);
    if (candidacies_.works() == id)
        log(LogLevel::warn, fmt::format("the attached process {} ({}), which led, has ended",
                                        client.peer().pid, client.peer().name));
    else if (client.ends_with_node && client.owes_done)
        log(LogLevel::info, fmt::format("the attached process {} ({}) has ended, by itself or "
                                        "because its lease was over",
                                        client.peer().pid, client.peer().name));
    obey(candidacies_.on_ended(read_clock(), id));
    drop(id);
}

void AttachServer::drop(ClientId id) {
    clients_.erase(id);
    show();
}

void AttachServer::leader_changed(protocol::Instant, const protocol::LeaderChanged& change) {
    leader_ = change;
    tell_leader_soon();
}

void AttachServer::tell_leader_soon() {
    if (clients_.empty() || std::exchange(leader_waits_, true)) return;
    leader_timer_.expires_after(leader_told_after);
    leader_timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        leader_waits_ = false;
        tell_leader({});
    });
}

void AttachServer::tell_leader(ClientId after) {
    const std::string line = attach_leader_line(leader_.leader, leader_.epoch, leader_.advertised);
    int told = 0;
    for (auto one = clients_.upper_bound(after); one != clients_.end(); ++one) {
        one->second->send(line);
        if (++told < clients_told_at_once) continue;
        return asio::post(io_, [this, last = one->first] { tell_leader(last); });
    }
}

// ---- The node.

void AttachServer::start(Epoch epoch) {
    leads_ = epoch;
    ended_.reset();
    if (!own_task_) {
        inner_runs_ = true;
        inner().start(epoch);
    }
    obey(candidacies_.on_start(read_clock(), epoch));
}

void AttachServer::stop(Epoch epoch, protocol::DeposedReason reason) {
    if (inner_runs_ && !own_task_) inner().stop(epoch, reason);
    obey(candidacies_.on_stop(read_clock(), epoch, reason));
}

void AttachServer::publish(const protocol::Publish& publish) {
    HostAround::publish(publish);
    if (publish.epoch && publish.may_be_outlived)
        obey(candidacies_.on_untied(read_clock(), publish.epoch, publish.untied_until));
}

void AttachServer::tell(const protocol::Event& event) {
    asio::dispatch(io_, [this, event] {
        const auto* ended = std::get_if<protocol::TaskEnded>(&event);
        if (ended == nullptr) return node().tell(event);
        if (own_task_) return obey(candidacies_.on_own_ended(read_clock(), *ended));
        if (ended->epoch != leads_) return;
        inner_runs_ = false;
        if (ended_) node().tell(*std::exchange(ended_, std::nullopt));
    });
}

void AttachServer::set_willing(bool willing, const std::string& why) {
    if (!own_task_) return HostAround::set_willing(willing, why);
    asio::dispatch(io_, [this, willing, why] {
        own_willing_ = willing;
        why_unwilling_ = why;
        obey(candidacies_.on_own_willing(read_clock(), willing));
    });
}

/// A node whose own task has nobody to do it stands for its clients.
void AttachServer::tell_willing() {
    const bool willing = own_willing_ || candidacies_.clients() > 0;
    const std::string why = willing ? std::string() : why_unwilling_;
    if (willing == told_willing_ && why == told_why_) return;
    told_willing_ = willing;
    told_why_ = why;
    node().set_willing(willing, why);
}

// ---- Orders.

void AttachServer::obey(const Candidacies::Orders& orders) {
    for (const Candidacies::Order& order : orders)
        std::visit([this](const auto& what) { carry_out(what); }, order);
    tell_willing();
    show();
    look_again();
}

void AttachServer::carry_out(const Candidacies::Hold& order) {
    AttachClient* const client = find(order.client);
    if (client == nullptr) return;
    // Before it works.
    if (!client->ends_with_node)
        pulse_.others_work.fetch_or(LoopPulse::attached_works);
    else if (order.first)
        guard_.begin(client->process(), order.epoch, order.valid_until_ns);
    else
        guard_.prolong(order.valid_until_ns);
    client->page().write(order.epoch, order.valid_until_ns, 0);
    if (!order.first) return;
    client->owes_done = true;
    client->send(attach_elected_line(order.epoch, order.valid_until_ns));
    log(LogLevel::info, fmt::format("the attached process {} ({}) leads, epoch {}",
                                    client->peer().pid, client->peer().name, order.epoch.value));
}

void AttachServer::carry_out(const Candidacies::Stop& order) {
    AttachClient* const client = find(order.client);
    if (client == nullptr) return;
    std::int64_t by_ns = order.by_ns;
    if (client->ends_with_node) {
        guard_.prolong(by_ns);
        by_ns = guard_.killed_at(by_ns);
    }
    client->page().write({}, 0, by_ns);
    if (order.first) client->send(attach_stop_line(order.epoch, order.reason, by_ns));
}

void AttachServer::carry_out(const Candidacies::Release& order) {
    AttachClient* const client = find(order.client);
    if (client == nullptr) return;
    guard_.end();
    client->page().write({}, 0, 0);
    client->send(attach_released_line(order.epoch));
    if (!client->connected()) clients_.erase(order.client);
}

void AttachServer::carry_out(const Candidacies::StartOwn& order) { inner().start(order.epoch); }

void AttachServer::carry_out(const Candidacies::StopOwn& order) {
    inner().stop(order.epoch, order.reason);
}

void AttachServer::carry_out(const Candidacies::Tell& order) {
    const auto* ended = std::get_if<protocol::TaskEnded>(&order.event);
    if (ended != nullptr) return end_leadership(*ended);
    node().tell(order.event);
}

/// Ends what the inner host does beside the clients first.
void AttachServer::end_leadership(const protocol::TaskEnded& event) {
    if (own_task_ || !inner_runs_) return node().tell(event);
    ended_ = event;
    inner().stop(event.epoch, !event.by_itself ? protocol::DeposedReason::lease_expired
                              : event.failed   ? protocol::DeposedReason::task_failed
                                               : protocol::DeposedReason::task_ended);
}

AttachClient* AttachServer::find(ClientId id) {
    const auto found = clients_.find(id);
    return found == clients_.end() ? nullptr : found->second.get();
}

/// To the processes that survive this one, and to people.
void AttachServer::show() {
    const auto works = candidacies_.works();
    if (!works) pulse_.others_work.fetch_and(~LoopPulse::attached_works);
    if (shown_works_ == works && shown_clients_ == candidacies_.clients()) return;
    if (shown_works_ != works) {
        const AttachClient* const client = works ? find(*works) : nullptr;
        holder_.reset();
        if (client != nullptr)
            holder_ = AttachedHolder{client->peer().pid, client->peer().name, read_clock()};
    }
    shown_works_ = works;
    shown_clients_ = candidacies_.clients();
    node().attached(shown_clients_, holder_);
}

// ---- Time.

void AttachServer::look_again() {
    const protocol::Instant now = read_clock();
    const protocol::Duration wait = candidacies_.until_wake(now);
    if (wait < protocol::forever) look_timer_.arm_at(now.boottime_ns + wait.ns);
}

/// While the node steps down it goes on renewing, which is not published.
void AttachServer::on_look() {
    const protocol::Instant now = read_clock();
    if (candidacies_.works()) obey(candidacies_.on_untied(now, leads_, node().untied_until()));
    obey(candidacies_.on_wake(now));
}

}  // namespace bullring
