#include "src/node/net/acceptor.hpp"

#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "src/base/log/logging.hpp"
#include "src/base/text/failure_text.hpp"

namespace bullring {

namespace {

constexpr std::chrono::milliseconds back_off_time{100};
/// A flood of connections must not keep the loop from its sessions.
constexpr int accepted_at_once_max = 16;

bool out_of_room(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/// The error concerns the one connection that was to be accepted, and not the listener.
bool of_the_connection(int error) {
    return error == ECONNABORTED || error == EPROTO || error == ENETDOWN || error == EHOSTDOWN ||
           error == EHOSTUNREACH || error == ENETUNREACH || error == ENOPROTOOPT ||
           error == EOPNOTSUPP || error == ENONET || error == EPERM || error == EINTR;
}

}  // namespace

Acceptor::Acceptor(asio::io_context& io, std::vector<OwnedFd> listeners, Callbacks callbacks)
    : io_(io), callbacks_(std::move(callbacks)) {
    for (OwnedFd& fd : listeners) {
        listeners_.push_back(std::make_unique<Listener>(io, fd.get()));
        fd.release();
    }
}

void Acceptor::start() {
    for (auto& listener : listeners_) {
        asio::co_spawn(io_, accept_for_ever(*listener), [this](std::exception_ptr failure) {
            if (!failure) return;
            try {
                std::rethrow_exception(failure);
            } catch (const std::exception& error) {
                callbacks_.failed(std::string("accepting connections has failed: ") +
                                  failure_text(error));
            }
        });
    }
}

void Acceptor::stop() {
    stopped_ = true;
    for (auto& listener : listeners_) {
        asio::error_code ignored;
        listener->descriptor.close(ignored);
        listener->back_off.cancel();
    }
}

asio::awaitable<void> Acceptor::accept_for_ever(Listener& listener) {
    asio::error_code error;
    while (!stopped_) {
        co_await listener.descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                                                asio::redirect_error(asio::use_awaitable, error));
        if (stopped_) co_return;
        if (error) throw std::system_error(error);
        if (accept_all(listener) || stopped_) continue;
        listener.back_off.expires_after(back_off_time);
        co_await listener.back_off.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
}

bool Acceptor::accept_all(Listener& listener) {
    for (int count = 0; count < accepted_at_once_max && !stopped_; ++count) {
        OwnedFd fd(tcp::accept_from(listener.descriptor.native_handle()));
        if (fd) {
            callbacks_.accepted(std::move(fd));
            continue;
        }
        const int error = errno;
        if (error == EAGAIN || error == EWOULDBLOCK) return true;
        if (out_of_room(error)) {
            log_limited(LogLevel::warn, "accept", {},
                        "cannot accept connections: " + std::generic_category().message(error) +
                            "; trying again every 100 ms");
            return false;
        }
        if (!of_the_connection(error)) throw std::system_error(error, std::generic_category());
    }
    return true;
}

}  // namespace bullring
