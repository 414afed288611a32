#include "src/node/observers/observer_sessions.hpp"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "tests/support/transport_harness.hpp"

namespace bullring::observer_sessions_test {

TEST_SUITE_BEGIN("realtime");

using namespace bullring::test;
using protocol::NodeId;

namespace {

constexpr NodeId self{1};

/// A node's observers, with bare sockets for the other side.
struct Observed final : TransportHandler {
    Observed()
        : transport(io, options(), *this),
          sessions(
              io, transport, {self, incarnation_of(self)}, "blue",
              {.ts_ns = 5, .leader = {3}, .epoch = {7}, .advertised = "here", .cluster_id = {}},
              {[this](protocol::SessionId from) {
                   asker = from;
                   return std::string(R"({"a":1})");
               },
               [this](NodeId to, std::uint64_t request) { resigns.emplace_back(to, request); },
               [this](const Drill& what) { return drill(what); },
               [this](const protocol::MemberChange& change, std::uint64_t request) {
                   changes.emplace_back(change, request);
               },
               [this] { return cluster_id; },
               [this](AskedAction action) { asked.push_back(std::move(action)); },
               [this] { told_at_once = asked.size(); }}) {
        transport.listen(std::move(listener.fds));
    }
    static TransportOptions options() {
        TransportOptions result;
        result.self = {self, incarnation_of(self)};
        return result;
    }
    void on_event(const protocol::Event& /*event*/) override {}
    void on_request(protocol::SessionId observer, const ObserverMessage& what) override {
        observers.push_back(observer);
        sessions.on_request(observer, what);
    }
    void on_observer_gone(protocol::SessionId observer) override { sessions.on_gone(observer); }
    void on_fatal(const std::string& what) override { FAIL(what); }

    asio::io_context io{1};
    BoundListener listener = listen_anywhere();
    Transport transport;
    ObserverSessions sessions;
    std::vector<protocol::SessionId> observers;  // all that ever came
    std::vector<std::pair<NodeId, std::uint64_t>> resigns;
    std::vector<std::pair<protocol::MemberChange, std::uint64_t>> changes;
    std::vector<AskedAction> asked;
    std::size_t told_at_once = 0;  // so many of them
    protocol::SessionId asker;
    protocol::ClusterId cluster_id;

    ObserverSessions::DrillAnswer drill(const Drill& what) {
        if (refuses_drills) return {DrillResult{false, "not here", {}, 0}, {}};
        return {DrillResult{true, "", {}, 3}, [this, what] { faults.push_back(what.what); }};
    }
    bool refuses_drills = false;
    std::vector<DrillRequest> faults;
};

class Observer {
public:
    Observer(Observed& node, ObserveWhat what, const std::string& cluster = "blue",
             int receive_bytes = 0, const std::string& from = "")
        : Observer(node, Observe{cluster, what, {}}, receive_bytes, from) {}
    Observer(Observed& node, const ObserverMessage& request, int receive_bytes = 0,
             const std::string& from = "")
        : node_(node), socket_(RawSocket::connect(node.listener.at, receive_bytes, from)) {
        socket_.send(observer_frame(request));
    }
    /// The next message; nothing when the connection has ended.
    std::optional<ObserverMessage> next() {
        std::optional<ObserverMessage> found;
        REQUIRE(run_until(node_.io, [&] {
            while (true) {
                auto frame = reader_.next().value();
                if (frame) {
                    found = std::get<ObserverMessage>((frame)->message);
                    return true;
                }
                const auto room = reader_.prepare();
                const ssize_t count = ::recv(socket_.fd(), room.data(), room.size(), MSG_DONTWAIT);
                if (count <= 0) return count == 0;
                reader_.commit(static_cast<std::size_t>(count));
            }
        }));
        return found;
    }
    /// The next change that is not the one before once more.
    ObserverChange next_change(const ObserverChange& before) {
        while (true) {
            const auto message = next().value();
            const auto& change = std::get<ObserverChange>(message);
            if (change != before) return change;
        }
    }

private:
    Observed& node_;
    RawSocket socket_;
    FrameReader reader_;
};

const ObserverChange first{.ts_ns = 5, .leader = {3}, .epoch = {7}, .advertised = "here"};

ObserverChange change(std::uint64_t epoch) {
    return {.ts_ns = static_cast<std::int64_t>(epoch),
            .leader = {2},
            .epoch = {epoch},
            .advertised = ""};
}

}  // namespace

TEST_CASE("observers: nobody watches a node that has been removed, until it is a member again") {
    Observed node;
    Observer before(node, ObserveWhat::watch);
    REQUIRE(before.next().has_value());
    node.sessions.set_removed(true);
    // Its own state is no news of the cluster.
    node.sessions.on_change({.ts_ns = 6, .leader = {}, .epoch = {7}, .advertised = ""});
    const ObserverMessage refusal = ObserverRefused{"member", "removed", ""};
    CHECK(before.next() == refusal);
    CHECK_FALSE(before.next().has_value());
    Observer during(node, ObserveWhat::watch);
    CHECK(during.next() == refusal);
    Observer asking(node, ObserveWhat::status);
    CHECK(std::holds_alternative<ObserverState>(asking.next().value()));
    node.sessions.set_removed(false);
    Observer after(node, ObserveWhat::watch);
    CHECK(std::holds_alternative<ObserverChange>(after.next().value()));
}

TEST_CASE("observers: status is one answer, then the end") {
    Observed node;
    Observer observer(node, ObserveWhat::status);
    const auto answer = observer.next().value();
    CHECK(std::get<ObserverState>(answer).json == R"({"a":1})");
    CHECK(node.asker == node.observers.front());
    CHECK_FALSE(observer.next().has_value());
}

TEST_CASE("observers: one of another cluster is told what differs") {
    Observed node;
    Observer observer(node, ObserveWhat::watch, "green");
    const auto answer = observer.next().value();
    CHECK(std::get<ObserverRefused>(answer) == ObserverRefused{"cluster", "blue", "green"});
    CHECK_FALSE(observer.next().has_value());
}

TEST_CASE("observers: one from elsewhere than a member's host learns no cluster's name") {
    Observed node;
    Observer observer(node, ObserveWhat::status, "green", 0, "127.0.0.2");
    const auto answer = observer.next().value();
    CHECK(std::get<ObserverRefused>(answer) == ObserverRefused{"cluster", "", "green"});
}

TEST_CASE("observers: a drill is answered before its fault happens") {
    Observed node;
    Observer observer(node, Drill{"blue", DrillRequest::cut, {7}});
    const auto answer = observer.next().value();
    CHECK(std::get<DrillResult>(answer) == DrillResult{true, "", {}, 3});
    CHECK_FALSE(observer.next().has_value());
    CHECK(node.faults == std::vector{DrillRequest::cut});
    // Later may be too late: the fault may kill the node.
    CHECK(node.told_at_once == 1);
}

TEST_CASE("observers: a drill that is refused, or of another cluster, lets nothing happen") {
    Observed node;
    Observer stranger(node, Drill{"green", DrillRequest::crash, {7}});
    CHECK(std::holds_alternative<ObserverRefused>(stranger.next().value()));
    node.refuses_drills = true;
    Observer refused(node, Drill{"blue", DrillRequest::crash, {7}});
    CHECK(std::get<DrillResult>(refused.next().value()).why == "not here");
    Observer resigner(node, Drill{"blue", DrillRequest::resign, {7}});
    CHECK(std::get<DrillResult>(resigner.next().value()).why == "not here");
    CHECK(node.faults.empty());
    CHECK(node.resigns.empty());
}

TEST_CASE("observers: a drill hands over as resign does") {
    Observed node;
    Observer observer(node, Drill{"blue", DrillRequest::resign, {7}});
    REQUIRE(run_until(node.io, [&] { return !node.resigns.empty(); }));
    CHECK(node.resigns.front().first == protocol::nobody);
    node.sessions.on_resign_answer(
        {{protocol::Asker::observer, node.resigns.front().second}, true, "", false});
    CHECK(std::get<ResignResult>(observer.next().value()).done);
}

TEST_CASE("observers: changes of the members are answered each with its own result") {
    using protocol::MemberChange;
    const MemberChange add{MemberChange::What::add, {4}, "127.0.0.1:7104"};
    Observed node;
    Observer stranger(node, ChangeMembers{"green", add});
    CHECK(std::holds_alternative<ObserverRefused>(stranger.next().value()));
    Observer one(node, ChangeMembers{"blue", add});
    REQUIRE(run_until(node.io, [&] { return node.changes.size() == 1; }));
    Observer two(node, ChangeMembers{"blue", {MemberChange::What::remove, {2}, ""}});
    REQUIRE(run_until(node.io, [&] { return node.changes.size() == 2; }));
    CHECK(node.changes[0].first == add);
    const auto answer = [&](std::size_t i, bool done, const std::string& why, bool lasting) {
        node.sessions.on_members_answer(
            {{protocol::Asker::observer, node.changes[i].second}, done, why, lasting});
    };
    answer(1, false, "a change is under way", false);
    answer(0, true, "", false);
    CHECK(std::get<ChangeResult>(two.next().value()) ==
          ChangeResult{false, "a change is under way", false});
    CHECK(std::get<ChangeResult>(one.next().value()) == ChangeResult{true, "", false});
    CHECK_FALSE(one.next().has_value());
}

TEST_CASE("observers: a change that is meant for another cluster of this name is not made") {
    const protocol::MemberChange remove{protocol::MemberChange::What::remove, {2}, ""};
    Observed node;
    Observer early(node, ChangeMembers{"blue", remove, {0xa}});
    const auto wait = std::get<ChangeResult>(early.next().value());
    CHECK(wait == ChangeResult{false, "it does not know its cluster's id yet", false});
    node.cluster_id = {0xb};
    Observer mistaken(node, ChangeMembers{"blue", remove, {0xa}});
    CHECK(std::get<ObserverRefused>(mistaken.next().value()) ==
          ObserverRefused{"cluster id", "000000000000000b", "000000000000000a"});
    Observer sure(node, ChangeMembers{"blue", remove, {0xb}});
    REQUIRE(run_until(node.io, [&] { return node.changes.size() == 1; }));
    Observer any(node, ChangeMembers{"blue", remove});
    REQUIRE(run_until(node.io, [&] { return node.changes.size() == 2; }));
}

TEST_CASE("observers: a watcher is told the cluster's id once the node knows it") {
    Observed node;
    Observer watcher(node, ObserveWhat::watch);
    CHECK(watcher.next_change({}) == first);
    node.cluster_id = {0xb};
    ObserverChange known = change(8);
    node.sessions.on_change(known);
    known.cluster_id = {0xb};
    CHECK(watcher.next_change(first) == known);
}

TEST_CASE("observers: a watcher gets the state first and then every change in order") {
    Observed node;
    std::vector<Observer> watchers;
    for (int i = 0; i < 20; ++i) watchers.emplace_back(node, ObserveWhat::watch);
    for (Observer& watcher : watchers) CHECK(watcher.next_change({}) == first);
    for (std::uint64_t epoch = 8; epoch <= 12; ++epoch) node.sessions.on_change(change(epoch));
    for (Observer& watcher : watchers) {
        ObserverChange before = first;
        for (std::uint64_t epoch = 8; epoch <= 12; ++epoch) {
            const ObserverChange next = watcher.next_change(before);
            CHECK(next == change(epoch));
            before = next;
        }
    }
}

TEST_CASE("observers: the state is said again while nothing changes") {
    Observed node;
    Observer watcher(node, ObserveWhat::watch);
    CHECK(std::get<ObserverChange>(watcher.next().value()) == first);
    CHECK(std::get<ObserverChange>(watcher.next().value()) == first);
}

TEST_CASE("observers: a watcher that does not read is disconnected, and others miss nothing") {
    Observed node;
    Observer slow(node, ObserveWhat::watch, "blue", 4096);
    CHECK(slow.next_change({}) == first);
    Observer good(node, ObserveWhat::watch);
    ObserverChange before = good.next_change({});
    const std::string long_text(200, 'x');
    std::uint64_t epoch = 100;
    for (int i = 0; i < 12'000; ++i) {
        ObserverChange next = change(++epoch);
        next.advertised = long_text;
        node.sessions.on_change(next);
        if (i % 100 != 0) continue;
        while (before.epoch.value < epoch) before = good.next_change(before);
    }
    while (before.epoch.value < epoch) {
        const ObserverChange next = good.next_change(before);
        CHECK(next.epoch.value == before.epoch.value + 1);
        before = next;
    }
    CHECK_FALSE(node.transport.send_to_observer(node.observers.at(0), {}));
    CHECK(node.transport.send_to_observer(node.observers.at(1), {}));
}

TEST_CASE("observers: the 257th is refused") {
    Observed node;
    std::vector<Observer> watchers;
    for (int i = 0; i < 256; ++i) {
        watchers.emplace_back(node, ObserveWhat::watch);
        if (i % 32 == 31) CHECK(watchers.back().next_change({}) == first);
    }
    Observer one_more(node, ObserveWhat::status);
    const auto answer = one_more.next().value();
    CHECK(std::holds_alternative<ObserverRefused>(answer));
}

TEST_CASE("observers: a resign is answered with its own result") {
    Observed node;
    Observer one(node, ObserveWhat::resign);
    Observer two(node, ObserveWhat::resign);
    REQUIRE(run_until(node.io, [&] { return node.resigns.size() == 2; }));
    node.sessions.on_resign_answer(
        {{protocol::Asker::observer, node.resigns[1].second}, true, "", false});
    node.sessions.on_resign_answer(
        {{protocol::Asker::observer, node.resigns[0].second}, false, "no successor", true});
    CHECK(std::get<ResignResult>(one.next().value()) == ResignResult{false, "no successor", true});
    CHECK(std::get<ResignResult>(two.next().value()) == ResignResult{true, "", false});
}

TEST_CASE(
    "observers: a node hands over some times at once and then says when it may be asked again") {
    Observed node;
    const auto ask = [&] {
        const std::size_t asked = node.observers.size();
        const std::size_t before = node.resigns.size();
        Observer observer(node, ObserveWhat::resign);
        REQUIRE(run_until(node.io, [&] { return node.observers.size() > asked; }));
        if (node.resigns.size() > before)
            node.sessions.on_resign_answer(
                {{protocol::Asker::observer, node.resigns.back().second}, true, ""});
        return std::get<ResignResult>(observer.next().value());
    };
    for (int i = 0; i < ObserverSessions::resigns_at_once; ++i) CHECK(ask().done);
    const ResignResult refused = ask();
    CHECK_FALSE(refused.done);
    CHECK(refused.why.find("asked again in") != std::string::npos);
    CHECK(node.resigns.size() == ObserverSessions::resigns_at_once);
}

TEST_CASE("observers: a handover that was refused counts for nothing") {
    Observed node;
    for (std::size_t i = 0; i < 20; ++i) {
        Observer observer(node, ObserveWhat::resign);
        REQUIRE(run_until(node.io, [&] { return node.resigns.size() == i + 1; }));
        node.sessions.on_resign_answer({{protocol::Asker::observer, node.resigns.back().second},
                                        false,
                                        "nobody else is there"});
        CHECK(std::get<ResignResult>(observer.next().value()).why == "nobody else is there");
    }
}

TEST_CASE("rate limit: so many at once, then one in each period, and no more saved up than that") {
    const std::chrono::seconds period{3};
    RateLimit limit(3, period);
    RateLimit::Time now{std::chrono::hours(1)};
    for (int i = 0; i < 3; ++i) CHECK_FALSE(limit.take(now).has_value());
    CHECK(limit.take(now) == period);
    now += period / 3;
    CHECK(limit.take(now) == period - period / 3);
    now += period - period / 3;
    CHECK_FALSE(limit.take(now).has_value());
    CHECK(limit.take(now).has_value());
    limit.give_back();
    CHECK_FALSE(limit.take(now).has_value());
    now += 100 * period;
    for (int i = 0; i < 3; ++i) CHECK_FALSE(limit.take(now).has_value());
    CHECK(limit.take(now) == period);
}

TEST_SUITE_END();

}  // namespace bullring::observer_sessions_test
