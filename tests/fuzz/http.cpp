// Requests by HTTP, as bytes on a connection to the server that a node has: heads, bodies, several
// in a row, in pieces. The server goes on; what it says is responses with a known status, and a
// head that is too large is never handed on. What is handed on is answered as a node would answer
// it.
#include <array>
#include <set>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/http/answers.hpp"
#include "src/http/http_server.hpp"
#include "src/http/request_parser.hpp"
#include "src/http/resign_request.hpp"
#include "tests/fuzz/http_node.hpp"
#include "tests/fuzz/input.hpp"

using namespace bullring;
using fuzz::expect;

namespace {

class Served {
public:
    Served() {
        address_.sun_family = AF_UNIX;
        // A name that no file system has, and no other process.
        const std::string name = "bullring-fuzz-" + std::to_string(::getpid());
        name.copy(address_.sun_path + 1, sizeof address_.sun_path - 2);
        length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        OwnedFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        expect(::bind(listener.get(), at(), length_) == 0 && ::listen(listener.get(), 8) == 0,
               "there is nothing to listen on");
        std::vector<OwnedFd> listeners;
        listeners.push_back(std::move(listener));
        server_ = std::make_unique<HttpServer>(
            io_, std::move(listeners),
            [this](const HttpRequest& request, const HttpReplyPtr& reply) {
                // A method that is none is refused by its first line, with whatever head behind it.
                if (request.method != "-") ++asked_;
                reply->send(fuzz::answer_to(request));
            },
            [](const std::string& what) { fuzz::broken(what, std::source_location::current()); });
        server_->start();
    }

    OwnedFd connect() const {
        OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        expect(::connect(fd.get(), at(), length_) == 0, "it can't be reached");
        return fd;
    }
    void turn() {
        io_.restart();
        io_.poll();
    }
    std::size_t asked() const { return asked_; }

private:
    const sockaddr* at() const { return reinterpret_cast<const sockaddr*>(&address_); }

    sockaddr_un address_{};
    socklen_t length_ = 0;
    asio::io_context io_{1};
    std::unique_ptr<HttpServer> server_;
    std::size_t asked_ = 0;
};

std::string read_all(int fd) {
    std::string answer;
    std::array<char, 4096> bytes{};
    for (ssize_t n = 0; (n = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0;)
        answer.append(bytes.data(), static_cast<std::size_t>(n));
    return answer;
}

void check_answer(std::string_view answer) {
    static const std::set<std::string_view> known{"200", "400", "403", "404", "405", "409",
                                                  "413", "431", "501", "503", "505"};
    if (answer.empty()) return;
    constexpr std::string_view version = "HTTP/1.";
    expect(answer.starts_with(version), "an answer that is no response");
    constexpr std::size_t status_at = version.size() + 2;
    expect(known.contains(answer.substr(status_at, 3)), "a status that nobody expects");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Served served;
    fuzz::Input input(data, size);
    const OwnedFd client = served.connect();
    const std::size_t pieces = 1 + input.below(3);
    std::string_view text = input.rest();
    const std::string_view head = text.substr(0, RequestParser::head_max);
    const bool too_large = text.size() > head.size() && head.find("\n\n") == head.npos &&
                           head.find("\n\r") == head.npos;
    const std::size_t before = served.asked();
    std::string answer;
    for (std::size_t piece = pieces; piece > 0; --piece) {
        const std::string_view part = text.substr(0, text.size() / piece);
        ::send(client.get(), part.data(), part.size(), MSG_NOSIGNAL);
        text.remove_prefix(part.size());
        served.turn();
        answer += read_all(client.get());
    }
    ::shutdown(client.get(), SHUT_WR);
    served.turn();
    answer += read_all(client.get());
    expect(!too_large || served.asked() == before, "a head that is too large is handed on");
    check_answer(answer);
    return 0;
}
