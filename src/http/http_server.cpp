#include "src/http/http_server.hpp"

#include <utility>

#include "src/base/log/logging.hpp"
#include "src/http/answer_text.hpp"
#include "src/http/http_connection.hpp"

namespace bullring {

HttpServer::HttpServer(asio::io_context& io, std::vector<OwnedFd> listeners, HttpHandler handler,
                       std::function<void(const std::string&)> failed)
    : io_(io),
      handler_(std::move(handler)),
      failed_(std::move(failed)),
      connections_(std::make_shared<std::list<HttpConnection*>>()) {
    add_acceptor(std::move(listeners));
}

HttpServer::~HttpServer() { acceptors_.back()->stop(); }

void HttpServer::start() { acceptors_.back()->start(); }

void HttpServer::listen_anew(OwnedFd listener) {
    acceptors_.back()->stop();
    std::vector<OwnedFd> listeners;
    listeners.push_back(std::move(listener));
    add_acceptor(std::move(listeners));
    start();
}

void HttpServer::add_acceptor(std::vector<OwnedFd> listeners) {
    acceptors_.push_back(std::make_unique<Acceptor>(
        io_, std::move(listeners),
        Acceptor::Callbacks{[this](OwnedFd fd) { on_accepted(std::move(fd)); }, failed_}));
}

void HttpServer::on_accepted(OwnedFd fd) {
    const bool there_is_room = make_room();
    const auto connection =
        std::make_shared<HttpConnection>(io_, std::move(fd), handler_, connections_);
    if (there_is_room) return connection->start();
    connection->refuse(
        last_answer({503, "there are " + std::to_string(connections_max) + " connections already\n",
                     "text/plain"}));
}

/// For one more connection; false if each one that is open has a request under way.
bool HttpServer::make_room() {
    HttpConnection* quietest = nullptr;
    HttpConnection* first_refused = nullptr;
    std::size_t taken = 0;
    std::size_t refused = 0;
    for (HttpConnection* const one : *connections_) {
        if (one->is_evicted()) continue;
        if (one->is_finishing()) {
            ++refused;
            if (first_refused == nullptr) first_refused = one;
            continue;
        }
        ++taken;
        if (one->is_idle() && (quietest == nullptr || one->quiet_since() < quietest->quiet_since()))
            quietest = one;
    }
    // Those who don't end what was refused to them are as many at most.
    if (refused >= connections_max) first_refused->evict();
    if (taken < connections_max) return true;
    log_limited(LogLevel::warn, "http connections", {},
                quietest != nullptr
                    ? "http: 64 connections are open; who has asked for nothing for the longest "
                      "time is cut off for a new one"
                    : "http: 64 connections are open and wait for their answers; a new one is "
                      "refused");
    if (quietest != nullptr) quietest->evict();
    return quietest != nullptr;
}

}  // namespace bullring
