#include "src/task/supervisor/lead_server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <asio/dispatch.hpp>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/settings/data_files.hpp"
#include "src/task/supervisor/lead_records.hpp"

namespace bullring {

using protocol::Epoch;
using Wait = asio::posix::descriptor_base;

namespace {

constexpr std::size_t clients_max = 256;

}  // namespace

LeadServer::LeadServer(asio::io_context& io, NodeLink& node, const NodeOptions& options,
                       LoopPulse& pulse, std::vector<int> directory_locks,
                       const MakeHost& make_inner)
    : HostAround(node),
      io_(io),
      options_(options),
      pulse_(pulse),
      directory_locks_(std::move(directory_locks)),
      listener_(io, options, {lead_socket_name, SOCK_SEQPACKET},
                [this](OwnedFd socket) { admit(std::move(socket)); }),
      prolong_timer_(io) {
    if (const auto opened = open(); !opened)
        log(LogLevel::warn, "bullring lead can't be used here: " + opened.error());
    enclose(io, make_inner);
}

LeadServer::~LeadServer() {
    clients_.clear();  // they hear of the end first
    listener_.close();
    end_inner();
}

tl::expected<void, std::string> LeadServer::open() {
    auto page = SharedLeasePage::create();
    if (!page)
        return tl::unexpected("cannot make a page for leases: " +
                              std::generic_category().message(errno));
    page_.emplace(std::move(*page));
    return listener_.open();
}

/// Those that are connected stay.
void LeadServer::file_removed(const std::string& name) {
    HostAround::file_removed(name);
    listener_.file_removed(name);
}

void LeadServer::directory_misplaced(const std::string& why) {
    HostAround::directory_misplaced(why);
    misplaced_ = !why.empty();
    if (!misplaced_) return;
    const LeadAnswer answer = make_answer(LeadAnswer::Kind::misplaced);
    for (Client& client : clients_)
        if (client.asked && !client.runs)
            send_record(client.socket.native_handle(), &answer, sizeof answer);
}

// ---- The node.

void LeadServer::start(Epoch epoch) {
    leads_ = epoch;
    stopping_ = false;
    inner_ended_.reset();
    inner().start(epoch);
    tie();
    let_go_if_held();
}

void LeadServer::stop(Epoch epoch, protocol::DeposedReason reason) {
    stop_clients();
    prolong_while_stopping();
    inner().stop(epoch, reason);
}

/// While the node steps down it goes on renewing, and what runs has its time for that long.
void LeadServer::prolong_while_stopping() {
    if (!stopping_ || !leads_ || !any_runs()) return;
    (*page_)->write({leads_, node().untied_until()});
    prolong_timer_.expires_after(std::chrono::nanoseconds(options_.config.timing.heartbeat.ns / 2));
    prolong_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) prolong_while_stopping();
    });
}

void LeadServer::publish(const protocol::Publish& publish) {
    published_ = publish;
    HostAround::publish(publish);
    if (!publish.epoch || !page_) return;
    (*page_)->write({publish.epoch, publish.untied_until});
    let_go_if_held();
}

void LeadServer::tell(const protocol::Event& event) {
    asio::dispatch(io_, [this, event] {
        if (const auto* tying = std::get_if<protocol::Tying>(&event)) {
            inner_ties_ = tying->tie;
            return tie();
        }
        const auto* ended = std::get_if<protocol::TaskEnded>(&event);
        if (ended == nullptr || ended->epoch != leads_) return node().tell(event);
        inner_ended_ = *ended;
        stop_clients();
        tell_if_all_ended();
    });
}

/// Once the first `lead` has come, and as long as one is there.
void LeadServer::tie() { node().tell(protocol::Tying{inner_ties_ && clients_.empty()}); }

void LeadServer::tell_if_all_ended() {
    if (!inner_ended_ || any_runs()) return;
    leads_ = {};
    node().tell(*std::exchange(inner_ended_, std::nullopt));
}

/// Tell surviving processes whether other commands may still run under this lease.
void LeadServer::show_others() {
    const auto running = std::count_if(clients_.begin(), clients_.end(),
                                       [](const Client& client) { return client.runs; });
    if (running > 0)
        pulse_.others_work.fetch_or(LoopPulse::lead_works);
    else
        pulse_.others_work.fetch_and(~LoopPulse::lead_works);
    node().lead_commands(static_cast<std::size_t>(running));
}

// ---- The clients.

bool LeadServer::any_runs() const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [](const Client& client) { return client.runs; });
}

void LeadServer::admit(OwnedFd socket) {
    if (clients_.size() >= clients_max) return;
    const auto client = clients_.emplace(clients_.end(), io_);
    client->socket.assign(socket.release());
    read_from(client);
}

void LeadServer::read_from(Clients::iterator client) {
    client->socket.async_wait(Wait::wait_read, [this, client](const asio::error_code& error) {
        if (error) return;
        LeadRequest request;
        OwnedFd none;
        const int received =
            receive_record(client->socket.native_handle(), &request, sizeof request, none);
        const bool would_block = received < 0 && errno == EAGAIN;
        const bool sound = received > 0 && request.magic == LeadRequest::magic_now;
        // One that runs a command is believed to run it until its connection ends, whatever it
        // says.
        if (received == 0 || (!would_block && !sound && !client->runs)) return drop(client);
        if (sound && !client->asked) on_request(*client);
        read_from(client);
    });
}

void LeadServer::on_request(Client& client) {
    client.asked = true;
    if (misplaced_) {
        const LeadAnswer answer = make_answer(LeadAnswer::Kind::misplaced);
        send_record(client.socket.native_handle(), &answer, sizeof answer);
        return;
    }
    if (leads_ && !stopping_) {
        tie();
        return let_go_if_held();
    }
    const LeadAnswer answer = make_answer(LeadAnswer::Kind::not_leading);
    send_record(client.socket.native_handle(), &answer, sizeof answer);
}

LeadAnswer LeadServer::make_answer(LeadAnswer::Kind kind) const {
    LeadAnswer answer;
    answer.kind = kind;
    answer.epoch = leads_.value;
    answer.node = options_.config.self.value;
    answer.lease_ns = options_.config.timing.lease.ns;
    options_.config.cluster.copy(answer.cluster, sizeof answer.cluster - 1);
    return answer;
}

/// Those that wait may go as soon as the lease stands without any session.
void LeadServer::let_go_if_held() {
    if (clients_.empty() || !leads_ || stopping_ || misplaced_ || published_.epoch != leads_)
        return;
    // More than the guard of the command keeps for its end; the next renewal brings it.
    const protocol::Timing& timing = options_.config.timing;
    const protocol::Instant latest = published_.untied_until - timing.lease / 2 - timing.heartbeat;
    if (!protocol::lease_valid(read_clock(), latest)) return;
    for (Client& client : clients_) {
        if (!client.asked || client.runs) continue;
        client.runs = true;
        show_others();
        if (send_go(client)) continue;
        client.runs = false;  // until the next renewal
        log_limited(LogLevel::warn, "lead", {},
                    "cannot hand the lock of the data directory to bullring lead, whose command "
                    "waits: " +
                        std::generic_category().message(errno));
        show_others();
    }
}

/// Without the locks a node that is started anew could let another command begin.
bool LeadServer::send_go(Client& client) {
    const int socket = client.socket.native_handle();
    const LeadAnswer lock = make_answer(LeadAnswer::Kind::lock);
    for (const int one : directory_locks_)
        if (!send_record(socket, &lock, sizeof lock, one)) return false;
    const LeadAnswer go = make_answer(LeadAnswer::Kind::go);
    return send_record(socket, &go, sizeof go, page_->fd());
}

void LeadServer::stop_clients() {
    stopping_ = true;
    for (Client& client : clients_) {
        if (!client.asked) continue;
        // One that has waited for the lease to be untied learns that it waits for the next one.
        const LeadAnswer answer =
            make_answer(client.runs ? LeadAnswer::Kind::stop : LeadAnswer::Kind::not_leading);
        send_record(client.socket.native_handle(), &answer, sizeof answer);
    }
}

void LeadServer::drop(Clients::iterator client) {
    clients_.erase(client);
    show_others();
    tie();
    tell_if_all_ended();
}

}  // namespace bullring
