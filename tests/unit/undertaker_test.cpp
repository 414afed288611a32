// The process that outlives a node: it speaks when the node has ended and not before, to whom it
// has been told to, and again until it is heard.
#include "src/watch/undertaker/undertaker.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/os/children.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/sanitizers.hpp"
#include "src/watch/loop_pulse.hpp"
#include "tests/support/transport_harness.hpp"

namespace bullring::undertaker_test {

using namespace bullring::test;
using protocol::NodeId;

namespace {

constexpr NodeId member{2};
constexpr protocol::Duration patience = protocol::seconds(20);

std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> bytes;
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    return bytes;
}

/// The bytes that arrive, up to so many or the end.
std::string read(const RawSocket& socket, std::size_t bytes) {
    std::string text;
    std::array<std::byte, 1> one{};
    while (text.size() < bytes && socket.read_some(one) == 1)
        text += static_cast<char>(one.front());
    return text;
}

/// In memory that is shared with child processes.
LoopPulse& shared_pulse() {
    void* const page = ::mmap(nullptr, sizeof(LoopPulse), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    return *new (page) LoopPulse;
}

/// In the process that plays a node: it never returns.
[[noreturn]] void live_on() {
    while (true) ::pause();
}

/// A connection to the member, as one that its session was established on.
void mourn_at(Undertaker& undertaker, const Endpoint& at) {
    const RawSocket session = RawSocket::connect(at);
    undertaker.mourn_at(member, session.fd());
}

using Step = std::function<void(Undertaker&)>;

/// The node with an undertaker, which is told of the voter between the two steps.
std::function<void()> node(const BoundListener& voter, Undertaker::Settings settings = {},
                           const Step& before = {}, const Step& after = {}) {
    settings.patience = patience;
    return [&voter, settings, before, after] {
        Undertaker undertaker(settings);
        if (!undertaker.start()) ::_exit(1);
        undertaker.set_words(bytes_of("MOURN"), bytes_of("DEAD"));
        if (before) before(undertaker);
        mourn_at(undertaker, voter.at);
        if (after) after(undertaker);
        live_on();
    };
}

/// The connections of a voter: the session first, which ends at once, then the undertaker.
RawSocket mourner_at(const BoundListener& voter) {
    const RawSocket session = RawSocket::accept(voter);
    CHECK(session.read_to_end() == 0);
    RawSocket mourner = RawSocket::accept(voter);
    CHECK(read(mourner, 5) == "MOURN");
    return mourner;
}

/// By it a test has the node's process go on, or hears of it.
class Go {
public:
    void give() const { REQUIRE(::write(begin_.get(), "x", 1) == 1); }
    void wait() const {
        char word = 0;
        REQUIRE(::read(begun_.get(), &word, 1) == 1);
    }

private:
    static std::array<int, 2> ends() {
        std::array<int, 2> both{-1, -1};
        REQUIRE(::pipe(both.data()) == 0);
        return both;
    }

    std::array<int, 2> ends_ = ends();
    OwnedFd begin_{ends_[1]};
    OwnedFd begun_{ends_[0]};
};

/// A process that is to end with the node.
class Client {
public:
    bool ended(int within_ms) const {
        pollfd ready{descriptor.get(), POLLIN, 0};
        return ::poll(&ready, 1, within_ms) == 1;
    }
    /// A descriptor by which no process can be killed, and which never says that one has ended.
    OwnedFd immortal() const { return OwnedFd(::eventfd(0, EFD_CLOEXEC)); }

    LoopPulse& pulse = shared_pulse();
    Child process{live_on};
    OwnedFd descriptor{static_cast<int>(::syscall(SYS_pidfd_open, process.pid(), 0))};
};

bool silent(const RawSocket& socket) {
    pollfd ready{socket.fd(), POLLIN, 0};
    return ::poll(&ready, 1, 20) == 0;
}

}  // namespace

TEST_SUITE("undertaker" * doctest::skip(thread_sanitizer)) {
    // N1.1, N2.1
    TEST_CASE("undertaker: it says the last word when the node has ended, and not before") {
        const BoundListener voter = listen_anywhere();
        Child one(node(voter));
        const RawSocket mourner = mourner_at(voter);
        CHECK(silent(mourner));
        one.kill_now();
        CHECK(read(mourner, 5) == "DEAD");
    }

    TEST_CASE(
        "undertaker: it connects anew when the connection ends, in the node's life and after") {
        const BoundListener voter = listen_anywhere();
        Child one(node(voter));
        mourner_at(voter).close();
        RawSocket second = RawSocket::accept(voter);
        CHECK(read(second, 5) == "MOURN");
        one.kill_now();
        CHECK(read(second, 4) == "DEAD");
        // As if the word had been lost: it is said again until its reader ends in order.
        const linger reset{1, 0};
        ::setsockopt(second.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        second.close();
        const RawSocket third = RawSocket::accept(voter);
        CHECK(read(third, 9) == "MOURNDEAD");
    }

    // N2.1
    TEST_CASE("undertaker: with a guard it waits for the guard's word") {
        const BoundListener voter = listen_anywhere();
        std::array<int, 2> guard{-1, -1};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, guard.data()) == 0);
        const OwnedFd ours(guard[0]);
        OwnedFd theirs(guard[1]);
        // The guard is a process of its own, which gets the undertaker's end.
        const auto start_guard = [&](Undertaker& undertaker) {
            const OwnedFd end = undertaker.new_guard();
            if (::fork() != 0) return;
            char word = 0;
            if (::read(theirs.get(), &word, 1) == 1 && ::write(end.get(), &word, 1) == 1)
                ::_exit(0);
            ::_exit(1);
        };
        Undertaker::Settings settings;
        settings.guarded = true;
        Child one(node(voter, settings, start_guard));
        const RawSocket mourner = mourner_at(voter);
        one.kill_now();
        CHECK(silent(mourner));
        SUBCASE("which comes") {
            REQUIRE(::write(ours.get(), "x", 1) == 1);
            CHECK(read(mourner, 5) == "DEAD");
        }
        SUBCASE("which never comes, because it is dead") {
            REQUIRE(::shutdown(ours.get(), SHUT_WR) == 0);
            CHECK(read(mourner, 5).empty());
        }
    }

    // N2.2
    TEST_CASE("undertaker: it is silent where something else may act for the node") {
        const BoundListener voter = listen_anywhere();
        LoopPulse& pulse = shared_pulse();
        Undertaker::Settings settings;
        settings.pulse = &pulse;
        Child one(node(voter, settings));
        const RawSocket mourner = mourner_at(voter);
        pulse.others_work = 1;
        one.kill_now();
        CHECK(read(mourner, 5).empty());
    }

    // N2.4
    TEST_CASE("undertaker: it ends who is to end with the node first") {
        const BoundListener voter = listen_anywhere();
        Client client;
        Undertaker::Settings settings;
        settings.pulse = &client.pulse;
        client.pulse.client_until_ns = INT64_MAX;
        const auto tell = [&](Undertaker& undertaker) {
            undertaker.end_with_node(client.descriptor.get(), {});
        };
        SUBCASE("and says the last word when it has ended") {
            Child one(node(voter, settings, tell));
            const RawSocket mourner = mourner_at(voter);
            one.kill_now();
            CHECK(read(mourner, 5) == "DEAD");
            CHECK(client.ended(0));
            CHECK(client.pulse.client_until_ns == 0);
            CHECK(client.pulse.client_ended_ns > 0);
        }
        SUBCASE("also one that has ended a moment before the node") {
            Child one(node(voter, settings, tell));
            const RawSocket mourner = mourner_at(voter);
            client.process.kill_now();
            one.kill_now();
            CHECK(read(mourner, 5) == "DEAD");
            CHECK(client.pulse.client_until_ns == 0);
            CHECK(client.pulse.client_ended_ns > 0);
        }
        SUBCASE("and says nothing if it does not know which process that is") {
            Child one(node(voter, settings));
            const RawSocket mourner = mourner_at(voter);
            one.kill_now();
            CHECK(read(mourner, 5).empty());
        }
        SUBCASE("also where nothing is to be said") {
            client.pulse.others_work = 1;
            Child one(node(voter, settings, tell));
            const RawSocket mourner = mourner_at(voter);
            one.kill_now();
            CHECK(read(mourner, 5).empty());
            CHECK(client.ended(0));
        }
        SUBCASE("unless nobody has to any more") {
            const Go to_test;
            Child one(node(voter, settings, tell, [&](Undertaker& undertaker) {
                client.pulse.client_until_ns = 0;
                undertaker.end_nobody_else();
                to_test.give();
            }));
            const RawSocket mourner = mourner_at(voter);
            to_test.wait();
            one.kill_now();
            CHECK(read(mourner, 5) == "DEAD");
            CHECK_FALSE(client.ended(0));
        }
        SUBCASE("and is silent when it does not end") {
            settings.pulse = &client.pulse;
            Child one(node(voter, settings, [&](Undertaker& undertaker) {
                undertaker.end_with_node(client.immortal().get(), {});
            }));
            const RawSocket mourner = mourner_at(voter);
            one.kill_now();
            CHECK(silent(mourner));
        }
    }

    // N2.4
    TEST_CASE("undertaker: it ends who is to end with the node before the lease ends") {
        const BoundListener voter = listen_anywhere();
        Client client;
        Undertaker::Settings settings;
        settings.pulse = &client.pulse;
        const std::int64_t until = read_clock().boottime_ns + 50'000'000;
        client.pulse.client_until_ns = until;
        const Child one(node(voter, settings, [&](Undertaker& undertaker) {
            undertaker.end_with_node(client.descriptor.get(), {});
        }));
        const RawSocket mourner = mourner_at(voter);
        SUBCASE("as it was first") {
            CHECK(client.ended(-1));
            CHECK(read_clock().boottime_ns >= until);
        }
        SUBCASE("as it was renewed") {
            client.pulse.client_until_ns = until + 50'000'000;
            CHECK(client.ended(-1));
            CHECK(read_clock().boottime_ns >= until + 50'000'000);
        }
        CHECK(silent(mourner));  // the node lives
    }

    // N2.4: the end of the one before lies unseen when the next one is named.
    TEST_CASE("undertaker: it does not take the end of one process for that of the next") {
        const BoundListener voter = listen_anywhere();
        Client before;
        const Client next;
        const Go to_node;
        const Go to_test;
        Undertaker::Settings settings;
        settings.pulse = &before.pulse;
        before.pulse.client_until_ns = INT64_MAX;
        const auto name_first = [&](Undertaker& undertaker) {
            undertaker.end_with_node(before.descriptor.get(), {});
        };
        const auto name_next = [&](Undertaker& undertaker) {
            to_node.wait();
            const pid_t process = own_children().back();
            ::kill(process, SIGSTOP);
            to_test.give();
            to_node.wait();
            undertaker.end_nobody_else();
            undertaker.end_with_node(next.descriptor.get(), {});
            ::kill(process, SIGCONT);
            to_test.give();
        };
        Child one(node(voter, settings, name_first, name_next));
        const RawSocket mourner = mourner_at(voter);
        to_node.give();
        to_test.wait();
        before.process.kill_now();
        to_node.give();
        to_test.wait();
        CHECK(silent(mourner));
        CHECK_FALSE(next.ended(0));
        one.kill_now();
        CHECK(read(mourner, 5) == "DEAD");
        CHECK(next.ended(0));
    }

    // R4
    TEST_CASE("undertaker: it resigns on the sessions that it has been given") {
        const BoundListener voter = listen_anywhere();
        const BoundListener other = listen_anywhere();
        Client client;
        Undertaker::Settings settings;
        settings.pulse = &client.pulse;
        Child one(node(voter, settings, [&](Undertaker& undertaker) {
            const RawSocket kept = RawSocket::connect(other.at);
            const RawSocket ended = RawSocket::connect(other.at);
            undertaker.end_with_node(client.descriptor.get(), bytes_of("RESIGN"));
            undertaker.keep(protocol::SessionId{1}, kept.fd());
            undertaker.keep(protocol::SessionId{2}, ended.fd());
            undertaker.forget(protocol::SessionId{2});
        }));
        const RawSocket kept = RawSocket::accept(other);
        const RawSocket ended = RawSocket::accept(other);
        const RawSocket mourner = mourner_at(voter);
        CHECK(read(ended, 7).empty());
        CHECK(silent(kept));
        one.kill_now();
        CHECK(read(kept, 7) == "RESIGN");
        CHECK(client.ended(0));
    }

    TEST_CASE("undertaker: one that is stopped by its node says nothing") {
        const BoundListener voter = listen_anywhere();
        const Go go;
        Child one(node(voter, {}, {}, [&](Undertaker& undertaker) {
            go.wait();
            undertaker.stop();
        }));
        const RawSocket mourner = mourner_at(voter);
        go.give();
        CHECK(read(mourner, 5).empty());
    }

    TEST_CASE("undertaker: it says the last word when its node says that it is over") {
        const BoundListener voter = listen_anywhere();
        const Go go;
        Child one(node(voter, {}, {}, [&](Undertaker& undertaker) {
            go.wait();
            undertaker.finish(std::chrono::seconds(20));
        }));
        const RawSocket mourner = mourner_at(voter);
        go.give();
        CHECK(read(mourner, 5) == "DEAD");
    }

    TEST_CASE("undertaker: the next one learns what the last one knew") {
        const BoundListener voter = listen_anywhere();
        std::array<int, 2> ends{-1, -1};
        REQUIRE(::pipe(ends.data()) == 0);
        const OwnedFd begin(ends[1]);
        const OwnedFd begun(ends[0]);
        Child one(node(voter, {}, {}, [&](Undertaker& undertaker) {
            if (!undertaker.start() || ::write(begin.get(), "x", 1) != 1) ::_exit(1);
        }));
        // Killed before that it has none.
        char word = 0;
        REQUIRE(::read(begun.get(), &word, 1) == 1);
        const RawSocket session = RawSocket::accept(voter);
        RawSocket mourner = RawSocket::accept(voter);
        if (read(mourner, 5).empty()) mourner = RawSocket::accept(voter);  // of the first one
        one.kill_now();
        std::string told = read(mourner, 9);
        // The first one may have come to say MOURN before it was replaced.
        if (told.empty()) {
            mourner = RawSocket::accept(voter);
            told = read(mourner, 9);
        }
        CHECK(told.ends_with("DEAD"));
    }
}

}  // namespace bullring::undertaker_test
