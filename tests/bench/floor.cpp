// The floor under a crash failover on this machine: N bare processes in a full mesh of
// one-directional TCP connections. One is killed; the first that reads the end of a connection
// asks all that have a vote one question and waits until a majority of these, itself included, has
// answered. No protocol, no lease, no timer: what is left is the kernel and the wire. It must use
// nothing of the project, or it would measure what it is to be compared with.
//
// Reads lines from stdin: each makes one round and prints its nanoseconds; the end of input ends
// it. So scripts/bench can take turns between this and the real cluster.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int nodes_max = 64;

struct Message {
    enum class Kind : std::uint32_t { hello, request, answer };
    Kind kind;
    std::uint32_t sender;
    std::uint32_t round;
};

// The memory that the parent and the processes share: which of them has claimed the round.
struct Shared {
    std::atomic<std::uint32_t> round;
    std::atomic<std::uint32_t> claimed;
};

// A report of a process to the parent through the pipe.
struct Report {
    enum class Kind : std::uint32_t { meshed, majority };
    Kind kind;
    std::uint32_t node;
    std::int64_t at_ns;
};

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

sockaddr* as_sockaddr(sockaddr_in& address) {
    return static_cast<sockaddr*>(static_cast<void*>(&address));
}

struct Listener {
    int fd = -1;
    sockaddr_in address{};
};

Listener make_listener() {
    Listener listener;
    listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    listener.address.sin_family = AF_INET;
    listener.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(listener.address);
    if (listener.fd < 0 || bind(listener.fd, as_sockaddr(listener.address), size) != 0 ||
        listen(listener.fd, nodes_max) != 0 ||
        getsockname(listener.fd, as_sockaddr(listener.address), &size) != 0) {
        fail("listen");
    }
    return listener;
}

// One process of the mesh.
class Process {
public:
    Process(std::uint32_t id, std::vector<Listener> listeners, std::uint32_t voters, Shared& shared,
            int to_parent)
        : id_(id),
          listeners_(std::move(listeners)),
          voters_(voters),
          shared_(shared),
          to_parent_(to_parent),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          dialled_(listeners_.size(), -1),
          accepted_from_(listeners_.size(), -1) {}

    [[noreturn]] void run() {
        watch(listeners_[id_].fd);
        for (std::uint32_t peer = 0; peer < listeners_.size(); ++peer) {
            if (peer != id_) {
                dial(peer);
            }
        }
        std::array<epoll_event, nodes_max> events{};
        for (;;) {
            const int ready = epoll_wait(epoll_, events.data(), nodes_max, -1);
            for (int i = 0; i < ready; ++i) {
                on_readable(events.at(static_cast<std::size_t>(i)).data.fd);
            }
        }
    }

private:
    void watch(int fd) const {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
            fail("epoll_ctl");
        }
    }

    void dial(std::uint32_t peer) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (connect(fd, as_sockaddr(listeners_[peer].address), sizeof(sockaddr_in)) != 0) {
            fail("connect");
        }
        dialled_[peer] = fd;
        send_to(peer, Message::Kind::hello);
    }

    void send_to(std::uint32_t peer, Message::Kind kind, std::uint32_t round = 0) const {
        const Message message{kind, id_, round};
        // A peer that has just died takes nothing: that is what the round is about.
        [[maybe_unused]] const ssize_t sent =
            send(dialled_[peer], &message, sizeof(message), MSG_NOSIGNAL);
    }

    void on_readable(int fd) {
        if (fd == listeners_[id_].fd) {
            const int session = accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
            if (session >= 0) {
                watch(session);
            }
            return;
        }
        Message message{};
        for (;;) {
            const ssize_t got = recv(fd, &message, sizeof(message), 0);
            if (got == ssize_t{sizeof(message)}) {
                on_message(fd, message);
            } else if (got < 0 && errno == EAGAIN) {
                return;
            } else {
                on_end(fd);
                return;
            }
        }
    }

    void on_message(int fd, const Message& message) {
        switch (message.kind) {
            case Message::Kind::hello: on_hello(fd, message.sender); break;
            case Message::Kind::request:
                send_to(message.sender, Message::Kind::answer, message.round);
                break;
            case Message::Kind::answer: on_answer(message.round); break;
        }
    }

    void on_hello(int fd, std::uint32_t peer) {
        if (accepted_from_[peer] >= 0) {  // Its end has not been read yet.
            drop(peer);
        }
        accepted_from_[peer] = fd;
        if (dialled_[peer] < 0) {
            dial(peer);
        }
        for (std::uint32_t other = 0; other < listeners_.size(); ++other) {
            if (other != id_ && (accepted_from_[other] < 0 || dialled_[other] < 0)) {
                return;
            }
        }
        report(Report::Kind::meshed);
    }

    // The first of all processes to come here in a round is the one that asks.
    void on_end(int fd) {
        const std::uint32_t round = shared_.round.load();
        std::uint32_t expected = round - 1;
        if (shared_.claimed.compare_exchange_strong(expected, round)) {
            answers_ = id_ < voters_ ? 1 : 0;
            asked_ = round;
            for (std::uint32_t peer = 0; peer < voters_; ++peer) {
                if (dialled_[peer] >= 0 && accepted_from_[peer] != fd) {
                    send_to(peer, Message::Kind::request, round);
                }
            }
        }
        for (std::uint32_t peer = 0; peer < listeners_.size(); ++peer) {
            if (accepted_from_[peer] == fd) {
                drop(peer);
            }
        }
        close(fd);
    }

    void drop(std::uint32_t peer) {
        accepted_from_[peer] = -1;
        close(dialled_[peer]);
        dialled_[peer] = -1;
    }

    void on_answer(std::uint32_t round) {
        if (round != asked_) {
            return;
        }
        ++answers_;
        if (answers_ > voters_ / 2) {
            asked_ = 0;
            report(Report::Kind::majority);
        }
    }

    void report(Report::Kind kind) const {
        const Report told{kind, id_, now_ns()};
        if (write(to_parent_, &told, sizeof(told)) != ssize_t{sizeof(told)}) {
            fail("write");
        }
    }

    std::uint32_t id_;
    std::vector<Listener> listeners_;
    std::uint32_t voters_;  // Those below it are asked.
    Shared& shared_;
    int to_parent_;
    int epoll_;
    std::vector<int> dialled_;
    std::vector<int> accepted_from_;
    std::uint32_t answers_ = 0;
    std::uint32_t asked_ = 0;  // The round whose answers this process counts, 0 for none.
};

// The parent: starts the processes, kills one a round, starts it again.
class Mesh {
public:
    Mesh(std::size_t size, std::uint32_t voters) : voters_(voters), pids_(size) {
        for (std::size_t i = 0; i < size; ++i) {
            listeners_.push_back(make_listener());
        }
        void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        std::array<int, 2> ends{};
        if (page == MAP_FAILED || pipe(ends.data()) != 0) {
            fail("mmap or pipe");
        }
        shared_ = new (page) Shared{};
        from_children_ = ends[0];
        to_parent_ = ends[1];
        for (std::uint32_t id = 0; id < size; ++id) {
            start(id);
        }
        await_meshed(size);
    }

    Mesh(const Mesh&) = delete;
    Mesh& operator=(const Mesh&) = delete;

    ~Mesh() {
        for (const pid_t pid : pids_) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
    }

    std::int64_t round() {
        const std::uint32_t number = shared_->round.load() + 1;
        const std::uint32_t victim = static_cast<std::uint32_t>(number % pids_.size());
        shared_->round.store(number);
        const std::int64_t killed_ns = now_ns();
        kill(pids_[victim], SIGKILL);
        Report told{};
        do {
            told = next_report();
        } while (told.kind != Report::Kind::majority);
        waitpid(pids_[victim], nullptr, 0);
        start(victim);
        await_meshed(pids_.size());
        return told.at_ns - killed_ns;
    }

private:
    void start(std::uint32_t id) {
        const pid_t parent = getpid();
        const pid_t pid = fork();
        if (pid < 0) {
            fail("fork");
        }
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) {
                std::_Exit(1);
            }
            Process(id, listeners_, voters_, *shared_, to_parent_).run();
        }
        pids_[id] = pid;
    }

    Report next_report() const {
        Report told{};
        if (read(from_children_, &told, sizeof(told)) != ssize_t{sizeof(told)}) {
            fail("read");
        }
        return told;
    }

    // A process says that it is meshed each time that a mesh is complete again.
    void await_meshed(std::size_t count) const {
        while (count > 0) {
            if (next_report().kind == Report::Kind::meshed) {
                --count;
            }
        }
    }

    std::vector<Listener> listeners_;
    std::uint32_t voters_;
    std::vector<pid_t> pids_;
    Shared* shared_ = nullptr;
    int from_children_ = -1;
    int to_parent_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
    const int size = argc == 2 || argc == 3 ? std::atoi(argv[1]) : 0;
    const int voters = argc == 3 ? std::atoi(argv[2]) : size;
    if (size < 3 || size > nodes_max || voters < 3 || voters > size) {
        std::cerr << "usage: bullring_floor NODES [VOTERS]   (3 to " << nodes_max
                  << "; all vote unless told)\n";
        return 2;
    }
    Mesh mesh(static_cast<std::size_t>(size), static_cast<std::uint32_t>(voters));
    std::string line;
    while (std::getline(std::cin, line)) {
        std::cout << mesh.round() << std::endl;
    }
    return 0;
}
