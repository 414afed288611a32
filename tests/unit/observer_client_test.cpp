// The observers' side of the peer port, against members that are made up: sound ones, silent ones,
// those that refuse and those that send rubbish. Real sockets on loopback, one thread.
#include "src/observe/observer_client.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <variant>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <doctest/doctest.h>

#include "src/node/observers/status_json.hpp"
#include "src/observe/which_cluster.hpp"

#if defined(__GNUC__) && !defined(__clang__)
// When g++ 12 inlines a coroutine's frame it takes Asio's pair of new and delete for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace bullring::observer_client_test {

TEST_SUITE_BEGIN("realtime");
namespace {

using asio::ip::tcp;
using Bytes = std::vector<std::byte>;

Bytes frame(const ObserverMessage& message) {
    Bytes bytes;
    encode(Sender{{1}, {42}}, message, bytes);
    return bytes;
}

Bytes state_of(std::uint64_t id, std::uint64_t leader = 3, const protocol::Membership& list = {}) {
    StatusInput input;
    input.view.list = list;
    input.view.self = {id};
    input.view.leader = {leader};
    input.view.epoch = {7};
    input.view.lease_left = protocol::milliseconds(400);
    input.cluster = "blue";
    return frame(ObserverState{node_status_json(input)});
}

/// Of a cluster of 1, 2 and 3, whose list nobody has changed; it has node 1 at `first`.
Bytes state_of_twin(std::uint64_t id, std::uint64_t cluster, const std::string& first) {
    StatusInput input;
    input.view.list = protocol::Membership(
        protocol::Tag{}, {{{1}, 0, true, first}, {{2}, 1, true, ""}, {{3}, 2, true, ""}},
        {{1}, {2}, {3}});
    input.view.cluster_id = {cluster};
    input.view.self = {id};
    input.cluster = "blue";
    return frame(ObserverState{node_status_json(input)});
}

/// Listens on a port of its own, takes one connection, and answers each request with these pieces.
/// It keeps the connection open until it is gone.
class FakeMember {
public:
    FakeMember(ObserverLoop& loop, std::vector<Bytes> pieces, const char* host = "127.0.0.1")
        : acceptor_(loop.io, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
          socket_(loop.io),
          pieces_(std::move(pieces)),
          host_(host) {
        asio::co_spawn(loop.io, serve(), asio::detached);
    }

    Endpoint endpoint() const { return {host_, acceptor_.local_endpoint().port()}; }
    const std::optional<Observe>& request() const { return request_; }
    void send(Bytes bytes) { asio::write(socket_, asio::buffer(bytes)); }
    void close() { socket_.close(); }

private:
    asio::awaitable<void> serve() {
        asio::error_code error;
        socket_ = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
        FrameReader reader;
        while (!error && !request_) {
            const auto room = reader.prepare();
            const std::size_t count =
                co_await socket_.async_read_some(asio::buffer(room.data(), room.size()),
                                                 asio::redirect_error(asio::use_awaitable, error));
            reader.commit(count);
            auto next = reader.next();
            if (next && *next)
                request_ = std::get<Observe>(std::get<ObserverMessage>((**next).message));
        }
        for (const Bytes& piece : pieces_) {
            co_await asio::async_write(socket_, asio::buffer(piece),
                                       asio::redirect_error(asio::use_awaitable, error));
        }
    }

    tcp::acceptor acceptor_;
    tcp::socket socket_;
    std::vector<Bytes> pieces_;
    const char* host_;
    std::optional<Observe> request_;
};

/// A port at which every connection is refused for as long as this lives.
class DeadPort {
public:
    explicit DeadPort(ObserverLoop& loop)
        : socket_(loop.io, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)) {}
    Endpoint endpoint() const { return {"127.0.0.1", socket_.local_endpoint().port()}; }

private:
    tcp::socket socket_;
};

/// Runs the coroutine to its end; a failed check inside does not stop it.
void run(const std::function<asio::awaitable<void>(ObserverLoop&)>& body) {
    const int status =
        run_observer(ObserverOptions{}, [&](ObserverLoop& loop) -> asio::awaitable<int> {
            co_await body(loop);
            co_return 0;
        });
    CHECK(status == 0);
}

Deadline soon() { return deadline_in(protocol::milliseconds(200)); }
Deadline late() { return deadline_in(protocol::seconds(30)); }

}  // namespace

TEST_CASE("observer: a member's answer is read, and a name is resolved") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember one(loop, {state_of(1)});
        FakeMember two(loop, {state_of(2)}, "localhost");
        const PeerList peers{{{1}, one.endpoint()}, {{2}, two.endpoint()}};
        const auto answers = co_await ask_members(loop, peers, "blue", late());
        REQUIRE(answers.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            CAPTURE(answers[i].problem);
            REQUIRE(answers[i].answer.has_value());
            CHECK(answers[i].answer->id == protocol::NodeId{i + 1});
        }
        CHECK(one.request() == Observe{"blue", ObserveWhat::status, protocol::nobody});
        CHECK(agreement(answers) == Agreement{{3}, {7}});
    });
}

TEST_CASE(
    "observer: whoever gives no answer is told apart from who gives one, each with its reason") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        DeadPort dead(loop);
        FakeMember silent(loop, {});
        FakeMember rubbish(loop, {Bytes(100, std::byte{0xFF})});
        FakeMember refusing(loop, {frame(ObserverRefused{"cluster", "green", "blue"})});
        FakeMember other(loop, {state_of(9)});
        FakeMember confused(loop, {frame(ResignResult{})});
        FakeMember broken(loop, {frame(ObserverState{"{"})});
        FakeMember sound(loop, {state_of(8)});
        const PeerList peers{{{1}, dead.endpoint()},    {{2}, silent.endpoint()},
                             {{3}, rubbish.endpoint()}, {{4}, refusing.endpoint()},
                             {{5}, other.endpoint()},   {{6}, confused.endpoint()},
                             {{7}, broken.endpoint()},  {{8}, sound.endpoint()}};
        const auto answers = co_await ask_members(loop, peers, "blue", soon());
        REQUIRE(answers.size() == 8);
        const std::array<const char*, 8> reasons{
            "Connection refused",
            "no answer in time",
            "it sends invalid data: frame of 4294967299 bytes is above the cap",
            "it refuses: cluster is \"green\" there, \"blue\" here",
            "it says that it is node 9",
            "its answer is not a status",
            "its status can't be read",
            ""};
        for (std::size_t i = 0; i < answers.size(); ++i) {
            CAPTURE(i);
            CAPTURE(answers[i].problem);
            CHECK(answers[i].problem.find(reasons[i]) == 0);
            CHECK(answers[i].answer.has_value() == (i == 7));
            CHECK(answers[i].refused == (i == 3 || i == 4));
        }
    });
}

namespace {

// Outside of the coroutines: g++ 12 cannot have such lists in one.
protocol::MemberEntry entry(std::uint64_t id, const Endpoint& endpoint) {
    return {{id}, static_cast<protocol::Index>(id), true, to_text(endpoint)};
}

protocol::Membership list_of(std::uint64_t epoch, const std::vector<protocol::MemberEntry>& all) {
    if (epoch == 0) return {protocol::Tag{}, all, protocol::ids_of(all)};
    return {{{epoch}, 1}, all, {{1}}};
}

PeerList peers_of(const std::vector<std::pair<std::uint64_t, Endpoint>>& all) {
    PeerList peers;
    for (const auto& [id, endpoint] : all) peers.emplace(protocol::NodeId{id}, endpoint);
    return peers;
}

protocol::Membership older_list(const Endpoint& gone, const Endpoint& added) {
    return list_of(6, {entry(1, gone), entry(2, added), entry(4, gone)});
}

protocol::Membership newer_list(const Endpoint& gone, const Endpoint& added,
                                const Endpoint& moved) {
    return list_of(7, {entry(1, gone), entry(2, added), entry(3, moved), entry(6, gone)});
}

std::string found_in(const std::vector<MemberAnswer>& answers) {
    std::string found;
    for (const MemberAnswer& member : answers)
        found += std::to_string(member.id.value) + (member.answer ? " " : "! ");
    return found;
}

protocol::Membership list_of_one_at(const Endpoint& endpoint) {
    return list_of(7, std::vector(1, entry(1, endpoint)));
}

PeerList one_three_five(const Endpoint& one, const Endpoint& three, const Endpoint& five) {
    return peers_of({{1, one}, {3, three}, {5, five}});
}

}  // namespace

TEST_CASE("observer: those whom a changed list names are asked, too, at its addresses") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember added(loop, {state_of(2)});
        FakeMember moved(loop, {state_of(3)});
        DeadPort dead(loop);
        const Endpoint gone = dead.endpoint();
        // 4 has been removed since: an older list still has it.
        const protocol::Membership older = older_list(gone, added.endpoint());
        const protocol::Membership newer = newer_list(gone, added.endpoint(), moved.endpoint());
        FakeMember one(loop, {state_of(1, 3, newer)});
        FakeMember five(loop, {state_of(5, 3, older)});
        const PeerList peers = one_three_five(one.endpoint(), gone, five.endpoint());
        const auto answers = co_await ask_members(loop, peers, "blue", late());
        CHECK(found_in(answers) == "1 2 3 5 6! ");
        REQUIRE(answers.size() == 5);
        CHECK(answers[2].address == to_text(moved.endpoint()));
        CHECK(newest_list(answers).tag() == newer.tag());
    });
}

TEST_CASE("observer: who answers where it was asked is asked where the list has it as well") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        DeadPort dead(loop);
        FakeMember slipped(loop, {state_of(1, 3, list_of_one_at(dead.endpoint()))});
        PeerList peers{{{1}, slipped.endpoint()}};
        auto answers = co_await ask_members(loop, peers, "blue", late());
        REQUIRE(answers.size() == 1);
        CHECK(answers[0].answer.has_value());
        CHECK(answers[0].address == to_text(slipped.endpoint()));
        REQUIRE(answers[0].listed.has_value());
        CHECK(answers[0].listed->address == to_text(dead.endpoint()));
        CHECK(answers[0].listed->problem == "Connection refused");
        CHECK(status_table(answers).find("not reached at " + to_text(dead.endpoint())) !=
              std::string::npos);

        // Of two addresses that are both its own nothing is said.
        FakeMember there(loop, {state_of(1)});
        FakeMember twice(loop, {state_of(1, 3, list_of_one_at(there.endpoint()))});
        peers = {{{1}, twice.endpoint()}};
        answers = co_await ask_members(loop, peers, "blue", late());
        REQUIRE(answers.size() == 1);
        REQUIRE(answers[0].listed.has_value());
        CHECK(answers[0].listed->problem.empty());
        CHECK(status_table(answers).find("not reached") == std::string::npos);
    });
}

TEST_CASE("observer: a list that was never changed leads to nobody else") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember other(loop, {state_of(2)});
        const protocol::Membership founders =
            list_of(0, std::vector(1, entry(2, other.endpoint())));
        FakeMember one(loop, {state_of(1, 3, founders)});
        const PeerList peers{{{1}, one.endpoint()}};
        const auto answers = co_await ask_members(loop, peers, "blue", late());
        CHECK(found_in(answers) == "1 ");
        CHECK_FALSE(other.request().has_value());
    });
}

TEST_CASE("observer: when enough is known nobody is waited for any more") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember silent(loop, {});
        FakeMember sound(loop, {state_of(2)});
        FakeMember another(loop, {state_of(3)});
        const PeerList peers{
            {{1}, silent.endpoint()}, {{2}, sound.endpoint()}, {{3}, another.endpoint()}};
        const Enough one_answer = [](const auto& answers) {
            return std::any_of(answers.begin(), answers.end(),
                               [](const auto& member) { return member.answer.has_value(); });
        };
        const Deadline deadline = late();
        const auto answers = co_await ask_members(loop, peers, "blue", deadline, one_answer);
        CHECK(std::chrono::steady_clock::now() < deadline);
        CHECK(!answers[0].answer.has_value());
        CHECK(answers[1].answer.has_value());
        CHECK(answers[2].answer.has_value());
    });
}

TEST_CASE("observer: a mistaken address leads to no cluster but the one that most are of") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember neighbour(loop, {state_of_twin(1, 0xb, "")});
        FakeMember mistaken(loop, {state_of_twin(2, 0xb, to_text(neighbour.endpoint()))});
        // Ours are slower.
        FakeMember one(loop, {});
        FakeMember three(loop, {});
        const PeerList peers{
            {{1}, one.endpoint()}, {{2}, mistaken.endpoint()}, {{3}, three.endpoint()}};
        asio::steady_timer timer(loop.io, std::chrono::milliseconds(50));
        timer.async_wait([&](const asio::error_code&) {
            one.send(state_of_twin(1, 0xa, ""));
            three.send(state_of_twin(3, 0xa, ""));
        });
        const Enough known = [](const auto& so_far) { return bool(meant_cluster_id(so_far)); };
        const auto answers = co_await ask_members(loop, peers, "blue", late(), known);
        CHECK(neighbour.request().has_value());
        CHECK(meant_cluster_id(answers) == protocol::ClusterId{0xa});
        CHECK(answers[0].answer->cluster_id == protocol::ClusterId{0xa});
    });
}

TEST_CASE("observer: members that have moved are not waited for where they were") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember one_there(loop, {state_of(1)});
        FakeMember two_there(loop, {state_of(2)});
        FakeMember one(loop, {});
        FakeMember two(loop, {});
        FakeMember three(loop, {});
        const protocol::Membership list =
            list_of(7, {entry(1, one_there.endpoint()), entry(2, two_there.endpoint()),
                        entry(3, three.endpoint())});
        const PeerList peers =
            peers_of({{1, one.endpoint()}, {2, two.endpoint()}, {3, three.endpoint()}});
        // Long after those that were given had their time.
        asio::steady_timer timer(loop.io, std::chrono::milliseconds(400));
        timer.async_wait([&](const asio::error_code&) { three.send(state_of(3, 3, list)); });
        const Deadline deadline = late();
        const auto answers = co_await ask_members(loop, peers, "blue", deadline);
        CHECK(std::chrono::steady_clock::now() < deadline);
        CHECK(found_in(answers) == "1 2 3 ");
    });
}

TEST_CASE("observer: where one of each cluster answers no list decides which is meant") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember neighbour(loop, {state_of_twin(1, 0xb, "")});
        FakeMember mistaken(loop, {state_of_twin(2, 0xb, to_text(neighbour.endpoint()))});
        DeadPort dead(loop);
        FakeMember three(loop, {state_of_twin(3, 0xa, "")});
        const PeerList peers{
            {{1}, dead.endpoint()}, {{2}, mistaken.endpoint()}, {{3}, three.endpoint()}};
        const auto answers = co_await ask_members(loop, peers, "blue", soon());
        CHECK(!answers[0].answer.has_value());
        CHECK_FALSE(most_are_of_one_cluster(answers));
    });
}

TEST_CASE("observer: a wait that times out leaves the connection as it was") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        const ObserverChange change{5, {3}, {7}, "db"};
        const Bytes bytes = frame(change);
        const Bytes first(bytes.begin(), bytes.begin() + 10);
        const Bytes rest(bytes.begin() + 10, bytes.end());
        FakeMember member(loop, {first});
        ObserverLink link(loop);
        ObserverMessage request = Observe{"blue", ObserveWhat::watch, protocol::nobody};
        const auto opened =
            co_await link.open(protocol::NodeId{1}, member.endpoint(), request, late());
        REQUIRE(opened.has_value());

        const auto early = co_await link.receive(soon());
        REQUIRE(!early.has_value());
        CHECK(early.error().timed_out);

        member.send(rest);
        const auto received = co_await link.receive(late());
        REQUIRE(received.has_value());
        CHECK(received->sender.id == protocol::NodeId{1});
        CHECK(std::get<ObserverChange>(received->message) == change);

        member.close();
        const auto last = co_await link.receive(late());
        REQUIRE(!last.has_value());
        CHECK(!last.error().timed_out);
        CHECK(last.error().why == "it closed the connection");
    });
}

TEST_CASE("observer: a link that is cancelled ends what waits on it") {
    run([](ObserverLoop& loop) -> asio::awaitable<void> {
        FakeMember member(loop, {});
        ObserverLink link(loop);
        ObserverMessage request = Observe{"blue", ObserveWhat::watch, protocol::nobody};
        const auto opened =
            co_await link.open(protocol::NodeId{1}, member.endpoint(), request, late());
        REQUIRE(opened.has_value());
        asio::steady_timer timer(loop.io, std::chrono::milliseconds(1));
        timer.async_wait([&link](const asio::error_code&) { link.cancel(); });
        const auto received = co_await link.receive(late());
        REQUIRE(!received.has_value());
        CHECK(received.error().why == "stopped");
        const auto again = co_await link.receive(late());
        CHECK(!again.has_value());
    });
}

TEST_CASE("observer: what a command throws comes out of the loop that runs it") {
    CHECK_THROWS_AS(run_observer(ObserverOptions{},
                                 [](ObserverLoop&) -> asio::awaitable<int> {
                                     throw std::runtime_error("no");
                                     co_return 0;
                                 }),
                    std::runtime_error);
}

TEST_SUITE_END();

}  // namespace bullring::observer_client_test
