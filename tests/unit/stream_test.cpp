// Tests how the kernel's errors are judged: the kernel is asked whether a connection is in an error
// state, so that closing it can send no FIN; the error's number decides nothing.
#include "src/node/net/stream.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/transport_harness.hpp"

namespace bullring::stream_test {

TEST_SUITE_BEGIN("realtime");

using namespace bullring::test;
using protocol::NodeId;
using protocol::SessionEnd;

namespace {

struct Connected {
    Connected() : here(io, non_blocking(RawSocket::connect(listener.at))), there(accepted()) {}

    static int non_blocking(const RawSocket& socket) {
        const int fd = ::dup(socket.fd());
        int on = 1;
        ::ioctl(fd, FIONBIO, &on);
        return fd;
    }
    RawSocket accepted() { return RawSocket::accept(listener); }

    asio::io_context io{1};
    BoundListener listener = listen_anywhere();
    TcpStream here;
    RawSocket there;
};

/// A page that no process can read or write: the kernel answers EFAULT, which says nothing about
/// the connection.
std::span<std::byte> forbidden_page() {
    void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    return {static_cast<std::byte*>(page), 4096};
}

/// From now on send() fails in this process for want of buffers.
void let_send_fail() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOBUFS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog whole{4, program};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) != 0) ::_exit(2);
}

}  // namespace

TEST_CASE("stream: an error that leaves the connection standing is not taken for its end") {
    Connected both;
    both.there.send(std::vector<std::byte>(8));
    asio::error_code error;
    both.here.descriptor().wait(asio::posix::descriptor_base::wait_read, error);
    const std::span<std::byte> page = forbidden_page();
    CHECK(both.here.read(page).status == IoStatus::unusable);
    CHECK(both.here.write(page).status == IoStatus::unusable);
    // And it was true: the other end still hears.
    const std::array<std::byte, 3> bytes{};
    CHECK(both.here.write(bytes).status == IoStatus::done);
    std::array<std::byte, 8> got;
    CHECK(both.there.read_some(got) == 3);
    ::munmap(page.data(), page.size());
}

TEST_CASE("stream: a connection that was reset is in an error state, on every try") {
    Connected both;
    const linger at_once{1, 0};
    ::setsockopt(both.there.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    both.there.close();
    asio::error_code error;
    both.here.descriptor().wait(asio::posix::descriptor_base::wait_read, error);
    std::array<std::byte, 8> room;
    CHECK(both.here.read(room).status == IoStatus::reset);
    CHECK(both.here.write(room).status == IoStatus::reset);
    CHECK(both.here.write(room).status == IoStatus::reset);
}

TEST_CASE(
    "stream: a dialler whose kernel is out of buffers gives its session up and sends no FIN") {
    BoundListener listener = listen_anywhere();
    int told[2];
    REQUIRE(::pipe(told) == 0);
    const Child dialler([&] {
        asio::io_context io(1);
        Host host(io, NodeId{2}, {{NodeId{1}, listener.at}});
        host.transport.start_dialling();
        if (!run_until(io, [&] { return !host.recorder.all<protocol::Receive>().empty(); })) return;
        const auto session = host.recorder.all<protocol::Dialled>().at(0).session;
        let_send_fail();
        host.transport.send(session, protocol::Heartbeat{});
        host.transport.flush();
        const auto ends = host.recorder.ends(session);
        const char how = ends.size() == 1 && ends[0] == SessionEnd::overflow ? 'y' : 'n';
        if (::write(told[1], &how, 1) != 1) return;
        ::pause();
    });
    const RawSocket socket = RawSocket::accept(listener);
    protocol::HelloAck ack;
    ack.id = NodeId{1};
    ack.incarnation = incarnation_of(NodeId{1});
    socket.send(frame_of(NodeId{1}, ack));
    char how = 0;
    REQUIRE(::read(told[0], &how, 1) == 1);
    CHECK(how == 'y');
    // HELLO, and no end behind it.
    std::array<std::byte, 4096> room;
    CHECK(::recv(socket.fd(), room.data(), room.size(), MSG_DONTWAIT) > 0);
    CHECK(::recv(socket.fd(), room.data(), room.size(), MSG_DONTWAIT) == -1);
    ::close(told[0]);
    ::close(told[1]);
}

TEST_SUITE_END();

}  // namespace bullring::stream_test
