#include "tests/support/node_fixture.hpp"

#include <algorithm>
#include <utility>

#include "protocol/values/algorithms.hpp"

namespace bullring::test {

using namespace protocol;

namespace {

constexpr Instant clock_start{1'000'000'000'007, 2'000'000'000'011};
constexpr std::uint64_t own_run = 0xA0;

std::string address(std::uint64_t node, std::uint64_t port) {
    return "10.0.0." + std::to_string(node) + ":" + std::to_string(port);
}

std::vector<NodeId> node_ids(const std::vector<std::uint64_t>& ids) {
    std::vector<NodeId> nodes;
    nodes.reserve(ids.size());
    for (const std::uint64_t id : ids) nodes.push_back({id});
    return nodes;
}

// Sessions are numbered so that a failing comparison can be read: 2·1000 + 100 + k is the k-th
// session accepted from node 2, 2·1000 + 500 + k the k-th dialled to it.
SessionId accepted_number(std::uint64_t peer, std::uint64_t count) {
    return {peer * 1000 + 100 + count};
}
SessionId dialled_number(std::uint64_t peer, std::uint64_t count) {
    return {peer * 1000 + 500 + count};
}

}  // namespace

Config config_for(std::uint64_t self, std::vector<std::uint64_t> ids, Algorithm algorithm) {
    Config config;
    config.self = {self};
    config.members = Membership(node_ids(ids));
    config.cluster = "unit";
    config.algorithm = algorithm;
    config.timing = make_timing(TimingRequest{}, ids.size(), algorithm);
    config.preempt = algorithm_row(algorithm).preempts;
    config.advertised = "app-" + std::to_string(self);
    return config;
}

Start start_with_file(const Config& config) {
    Start start = start_without_file(config);
    start.file = Durable{{5000},
                         config.timing.promise(config.timing.lease),
                         config.hooks,
                         config.members,
                         {cluster_id, {1}, true},
                         {0xD0 + config.self.value}};
    return start;
}

Start start_without_file(const Config& config) {
    Start start;
    start.now = clock_start;
    start.incarnation = {own_run * 100 + config.self.value};
    start.seed = 1;
    start.wall_clock_ms = 1'800'000'000'000;
    return start;
}

NodeFixture::NodeFixture(const Config& config) : NodeFixture(config, start_with_file(config)) {}

NodeFixture::NodeFixture(const Config& config, const Start& start)
    : config_(config), incarnation_(start.incarnation), now_(start.now), node_(config, start) {}

void NodeFixture::note(const Actions& actions) {
    for (const Action& action : actions) {
        if (const auto* persist = std::get_if<Persist>(&action)) to_disk_ = persist->durable;
        const auto* send = std::get_if<Send>(&action);
        if (send == nullptr) continue;
        if (const auto* request = std::get_if<Coordinator>(&send->message))
            peers_[send->session.value / 1000].request = *request;
    }
}

Actions NodeFixture::step(const Event& event) {
    Actions actions;
    node_.step(now_, event, actions);
    note(actions);
    if (disk_answers_ && to_disk_) append(actions, persisted());
    return actions;
}

Actions NodeFixture::persisted() {
    REQUIRE(to_disk_.has_value());
    const Durable written = *std::exchange(to_disk_, std::nullopt);
    return step(Persisted{written});
}

Actions NodeFixture::after(Duration duration) {
    pass(duration);
    return wake();
}

Actions NodeFixture::run(Duration duration) { return run(duration, false); }
Actions NodeFixture::run_granted(Duration duration) { return run(duration, true); }

Actions NodeFixture::run(Duration duration, bool granted) {
    Actions all;
    while (duration.ns > 0) {
        const Duration slice = std::min(duration, timing().heartbeat);
        duration = duration - slice;
        pass(slice);
        for (const auto& [peer, script] : peers_)
            if (script.heard) append(all, hear_heartbeat(peer));
        append(all, wake());
        for (const auto& [peer, script] : peers_)
            if (granted && script.heard && script.request) append(all, answer_grant(peer));
    }
    return all;
}

Incarnation NodeFixture::incarnation_of(std::uint64_t peer) {
    return {0xB000 + peer * 0x10 + peers_[peer].runs};
}

void NodeFixture::new_incarnation(std::uint64_t peer) { ++peers_[peer].runs; }

HelloReceived NodeFixture::hello_from(std::uint64_t peer) {
    const std::uint64_t count = peers_[peer].accepted;
    Hello hello;
    hello.cluster = config_.cluster;
    hello.members = config_.members.ids();
    if (config_.members.changed()) hello.changed = config_.members;
    hello.quorum = config_.quorum;
    hello.algorithm = config_.algorithm;
    hello.rho_ppm = timing().rho_ppm;
    hello.id = {peer};
    hello.incarnation = incarnation_of(peer);
    hello.session = {7000 + count};
    hello.lease = timing().lease;
    hello.heartbeat_period = timing().heartbeat;
    hello.advertised = "app-" + std::to_string(peer);
    hello.addresses = {address(peer, 40000 + count), address(config_.self.value, 9000)};
    hello.fast_release = config_.fast_release;
    hello.cluster_id = cluster_id_;
    return {accepted_number(peer, count), hello,
            Addresses{hello.addresses.remote, hello.addresses.local}};
}

HelloAck NodeFixture::ack_from(std::uint64_t peer) {
    HelloAck ack;
    ack.id = {peer};
    ack.incarnation = incarnation_of(peer);
    ack.lease = timing().lease;
    ack.addresses = {address(peer, 9000), address(config_.self.value, 50000)};
    ack.promised_max = timing().promise(timing().lease);
    ack.lease_max = timing().lease_max;
    ack.had_file_at_start = true;
    ack.version = config_.wire_highest;
    if (ack.version >= version_with_identity) ack.cluster_id = cluster_id_;
    return ack;
}

Heartbeat NodeFixture::heartbeat_from(std::uint64_t peer) const {
    Heartbeat heartbeat;
    for (std::size_t i = 0; i < config_.members.size(); ++i)
        if (config_.members.id(static_cast<Index>(i)).value != peer)
            heartbeat.heard.insert(static_cast<Index>(i));
    heartbeat.quorum_connected = true;
    heartbeat.eligible = true;
    heartbeat.quorum_age = seconds(1);
    return heartbeat;
}

void NodeFixture::says(std::uint64_t peer, const Heartbeat& heartbeat) {
    peers_[peer].heartbeat = heartbeat;
}

Actions NodeFixture::accept(const HelloReceived& hello) {
    ++peers_[hello.hello.id.value].accepted;
    return step(hello);
}

Actions NodeFixture::dial(std::uint64_t peer, const HelloAck& ack) {
    const SessionId session = dialled_number(peer, peers_[peer].dialled++);
    Actions actions =
        step(Dialled{{peer}, session, {address(config_.self.value, 50000), address(peer, 9000)}});
    append(actions, step(Receive{session, ack}));
    return actions;
}

Actions NodeFixture::connect(std::uint64_t peer) {
    Actions actions = accept(peer);
    append(actions, dial(peer));
    append(actions, hear_heartbeat(peer));
    return actions;
}

Actions NodeFixture::hear(std::uint64_t peer, const Message& message) {
    return step(Receive{accepted(peer), message});
}

Actions NodeFixture::hear_heartbeat(std::uint64_t peer) {
    peers_[peer].heard = true;
    return hear(peer, peers_[peer].heartbeat.value_or(heartbeat_from(peer)));
}

Grant NodeFixture::grant_from(std::uint64_t peer) {
    REQUIRE(peers_[peer].request.has_value());
    const Coordinator& request = *peers_[peer].request;
    return {incarnation_,
            request.epoch,
            request.lease,
            request.stamp,
            request.tie ? dialled(peer) : no_session,
            incarnation_of(peer),
            std::nullopt,
            request.tag};
}

Walk NodeFixture::walk_from(std::uint64_t owner, std::vector<Index> path, std::uint32_t step,
                            std::uint64_t round) {
    Walk walk;
    walk.owner = {owner};
    walk.owner_incarnation = incarnation_of(owner);
    walk.round = round;
    walk.step = step;
    for (const Index i : path) walk.visited.insert(i);
    walk.path = std::move(path);
    return walk;
}

Actions NodeFixture::answer_grant(std::uint64_t peer) { return hear(peer, grant_from(peer)); }

Actions NodeFixture::lose(std::uint64_t peer, SessionEnd how) {
    peers_[peer].heard = false;
    return step(SessionEnded{accepted(peer), how});
}

SessionId NodeFixture::accepted(std::uint64_t peer) const {
    const auto found = peers_.find(peer);
    if (found == peers_.end() || found->second.accepted == 0) return no_session;
    return accepted_number(peer, found->second.accepted - 1);
}

SessionId NodeFixture::dialled(std::uint64_t peer) const {
    const auto found = peers_.find(peer);
    if (found == peers_.end() || found->second.dialled == 0) return no_session;
    return dialled_number(peer, found->second.dialled - 1);
}

std::optional<Coordinator> NodeFixture::last_request(std::uint64_t peer) const {
    const auto found = peers_.find(peer);
    return found == peers_.end() ? std::nullopt : found->second.request;
}

void NodeFixture::recover() {
    const bool answered = std::exchange(disk_answers_, true);
    wake();
    after(timing().promise(timing().lease));
    REQUIRE_FALSE(view().recovering);
    disk_answers_ = answered;
}

void NodeFixture::stand(const std::vector<std::uint64_t>& peers) {
    recover();
    for (const std::uint64_t peer : peers) connect(peer);
    REQUIRE(role() == Role::candidate);
}

void NodeFixture::lead(const std::vector<std::uint64_t>& peers) {
    stand(peers);
    for (const std::uint64_t peer : peers)
        if (role() == Role::candidate) answer_grant(peer);
    for (const std::uint64_t peer : peers) answer_grant(peer);
    REQUIRE(role() == Role::leader);
}

Actions without_heartbeats(const Actions& actions) {
    Actions rest;
    for (const Action& action : actions) {
        const auto* send = std::get_if<Send>(&action);
        if (send != nullptr && std::holds_alternative<Heartbeat>(send->message)) continue;
        rest.push_back(action);
        auto* kept = std::get_if<Send>(&rest.back());
        if (kept == nullptr) continue;
        if (auto* request = std::get_if<Coordinator>(&kept->message)) request->heartbeat.reset();
        if (auto* grant = std::get_if<Grant>(&kept->message)) grant->heartbeat.reset();
    }
    return rest;
}

void append(Actions& to, const Actions& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace bullring::test
