// The endpoint's own thread, with a node that the test plays, and with nodes of the library.
#include <atomic>
#include <thread>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/os/clock.hpp"
#include "src/http/endpoint.hpp"
#include "tests/support/library_cluster.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::http_endpoint_test {

TEST_SUITE_BEGIN("realtime");
namespace {

/// All that comes back until the connection ends.
std::string ask(const std::string& path, const std::string& request) {
    const OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const std::string head = request + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    REQUIRE(::send(fd.get(), head.data(), head.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(head.size()));
    std::string answer;
    char bytes[4096];
    for (ssize_t n = 0; (n = ::recv(fd.get(), bytes, sizeof bytes, 0)) > 0;)
        answer.append(bytes, static_cast<std::size_t>(n));
    return answer;
}
std::string status(const std::string& answer) { return answer.substr(0, 12); }

struct Served {
    test::TemporaryDirectory directory;
    std::string path = directory / "http";
    NodeOptions options;
    std::unique_ptr<HttpEndpoint> endpoint;

    Served() {
        options.http.socket = path;
        options.config.self = {1};
        options.config.members = protocol::Membership(std::vector<protocol::NodeId>{{1}});
        options.peers[{1}] = {"127.0.0.1", 1};
        protocol::Start start;
        start.now = read_clock();
        auto opened = HttpEndpoint::open(options, start);
        REQUIRE(opened);
        endpoint = std::move(*opened);
        endpoint->start(nullptr, ActionTrail());
    }
};

/// A loop that does nothing but answer what the endpoint asks.
class Loop {
public:
    explicit Loop(Showcase& showcase) : thread_([this, &showcase] { run(showcase); }) {}
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop() {
        over_ = true;
        thread_.join();
    }

private:
    void run(Showcase& showcase) {
        while (!over_) {
            pollfd asked{showcase.asked().fd(), POLLIN, 0};
            if (::poll(&asked, 1, 10) <= 0) continue;
            showcase.asked().quiet();
            const auto resign = showcase.answer({});
            if (!resign) continue;
            protocol::ResignAnswer answer;
            answer.request = resign->request;
            answer.done = resign->to == protocol::NodeId{2};
            answer.why = "nobody is there";
            showcase.resign_answered(answer);
        }
    }

    std::atomic<bool> over_{false};
    std::thread thread_;
};

TEST_CASE("http endpoint: a loop that stands still is not alive, whatever else is answered") {
    Served served;
    CHECK(status(ask(served.path, "GET /livez")) == "HTTP/1.1 503");
    CHECK(status(ask(served.path, "GET /leader")) == "HTTP/1.1 503");
    CHECK(status(ask(served.path, "GET /metrics")) == "HTTP/1.1 200");
    const Loop loop(served.endpoint->showcase());
    CHECK(status(ask(served.path, "GET /livez")) == "HTTP/1.1 200");
}

TEST_CASE("http endpoint: the lease that the loop publishes is what is answered next") {
    Served served;
    Showcase& showcase = served.endpoint->showcase();
    showcase.publish({{7}, read_clock() + protocol::seconds(60), {}});
    CHECK(status(ask(served.path, "GET /leader")) == "HTTP/1.1 200");
    showcase.publish({});
    CHECK(status(ask(served.path, "GET /leader")) == "HTTP/1.1 503");
    showcase.publish({{8}, read_clock() - protocol::Duration{1}, {}});
    CHECK(status(ask(served.path, "GET /leader")) == "HTTP/1.1 503");
}

TEST_CASE("http endpoint: what the node says of a request to resign is what is answered") {
    Served served;
    Showcase& showcase = served.endpoint->showcase();
    const Loop loop(showcase);
    CHECK(ask(served.path, "POST /resign").find("this node does not lead") != std::string::npos);
    protocol::View view;
    view.self = {1};
    showcase.show(read_clock(), view);
    showcase.publish({{7}, read_clock() + protocol::seconds(60), {}});
    const std::string refused = ask(served.path, "POST /resign");
    CHECK(status(refused) == "HTTP/1.1 409");
    CHECK(refused.find("nobody is there") != std::string::npos);
}

TEST_CASE("http endpoint: it ends while somebody listens") {
    Served served;
    std::thread listener([&] { CHECK(status(ask(served.path, "GET /events")) == "HTTP/1.1 200"); });
    // The thread has what it asked for, or will be refused; either way it ends.
    while (ask(served.path, "GET /metrics").empty()) continue;
    served.endpoint.reset();
    listener.join();
}

TEST_CASE("http endpoint: a node of the library has it, too") {
    const test::LibraryCluster cluster(1);
    Options options = cluster.options(1);
    const std::string path = cluster.directory() / "http";
    options.http = "unix:" + path;
    Node node(options);
    node.start();
    const auto leads = [&] { return status(ask(path, "GET /leader")) == "HTTP/1.1 200"; };
    while (!leads()) std::this_thread::yield();
    CHECK(status(ask(path, "GET /livez")) == "HTTP/1.1 200");
    CHECK(status(ask(path, "GET /cluster")) == "HTTP/1.1 200");
    node.stop();
    options.http = "0.0.0.0:8080";
    CHECK(options.problems().size() == 1);
}

}  // namespace

TEST_SUITE_END();

}  // namespace bullring::http_endpoint_test
