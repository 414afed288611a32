// Whose end of a local socket it is, by the kernel's own descriptor and, as before Linux 6.5, by
// its number.
#include "src/base/os/peer_process.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/local_socket.hpp"
#include "src/base/os/readiness.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::peer_process_test {

namespace {

/// A child of this process, connected to it.
class Child {
public:
    Child() {
        auto listener = LocalListener::open(directory_.path(), "peer.sock", SOCK_STREAM);
        REQUIRE(listener);
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto connection = connect_locally(directory_.path(), "peer.sock", SOCK_STREAM);
            if (connection) ::pause();
            ::_exit(0);
        }
        REQUIRE(pid_ > 0);
        const OwnedFd listening = listener->take();
        while (!socket_)
            socket_ = OwnedFd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    }
    ~Child() { end(); }

    void end() {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    pid_t pid() const { return pid_; }
    int socket() const { return socket_.get(); }

private:
    test::TemporaryDirectory directory_;
    pid_t pid_ = 0;
    OwnedFd socket_;
};

}  // namespace

TEST_CASE("peer process: it is the one that has connected, and its end is seen") {
    for (const bool by_number : {false, true}) {
        CAPTURE(by_number);
        Child child;
        const PeerProcess peer = peer_of(child.socket(), by_number);
        CHECK(peer.pid == child.pid());
        CHECK_FALSE(peer.name.empty());
        REQUIRE(peer.process);
        CHECK_FALSE(is_ready(peer.process.get()));
        child.end();
        CHECK(is_ready(peer.process.get()));
    }
}

TEST_CASE("peer process: one that has ended before is not taken for another") {
    Child child;
    child.end();
    CHECK_FALSE(peer_of(child.socket(), true).process);
}

}  // namespace bullring::peer_process_test
