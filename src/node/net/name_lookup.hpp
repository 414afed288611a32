// Owns: a question to the system's resolver, asked on a thread of its own. It can't be cancelled
// and takes ten seconds and more where no name server answers, so no two names may wait for one
// another.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "src/base/text/endpoint.hpp"

namespace bullring {

class NameLookup {
public:
    using Addresses = std::vector<asio::ip::tcp::endpoint>;

    explicit NameLookup(asio::io_context& io) : io_(io) {}
    NameLookup(const NameLookup&) = delete;
    NameLookup& operator=(const NameLookup&) = delete;
    /// The thread may go on; it touches nothing of this any more.
    ~NameLookup() { forget(); }

    /// `done` is called in the loop, later, with nothing when the name has no address. Not while
    /// one is running.
    void start(const Endpoint& endpoint, std::function<void(Addresses)> done);
    bool running() const { return question_ != nullptr; }
    /// Its answer will not be delivered.
    void forget();

private:
    struct Question;

    asio::io_context& io_;
    std::shared_ptr<Question> question_;
};

}  // namespace bullring
