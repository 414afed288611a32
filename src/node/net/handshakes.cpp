#include "src/node/net/handshakes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <asio/post.hpp>
#include <sys/socket.h>

#include "src/base/os/tcp.hpp"
#include "src/wire/codec.hpp"

namespace bullring {

using Wait = asio::posix::descriptor_base;

namespace {

constexpr unsigned char tls_handshake = 0x16;  // the type of a record
constexpr unsigned char frame_begin = 0x00;    // no frame is as long as 16 MiB
/// Alert, fatal: protocol_version. All that one who speaks no TLS is told; it can be read as that
/// by a member that is configured differently.
constexpr std::array<unsigned char, 7> speak_tls{0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x46};

}  // namespace

Handshakes::Handshakes(asio::io_context& io, const Limits& limits, bool plain_too,
                       Callbacks callbacks)
    : io_(io), limits_(limits), plain_too_(plain_too), callbacks_(std::move(callbacks)) {}

Handshakes::~Handshakes() {
    stop();
    *alive_ = false;
}

void Handshakes::stop() {
    entries_.clear();
    accepted_ = 0;
}

Handshakes::Entry& Handshakes::add(OwnedFd fd, std::shared_ptr<const TlsContext> context, Id& id) {
    id = ++last_id_;
    auto entry = std::make_unique<Entry>(io_, fd.get());
    fd.release();
    entry->context = std::move(context);
    entry->remote = tcp::addresses_of(entry->descriptor.native_handle()).remote;
    entry->host = tcp::host_of(entry->remote);
    entry->begun = Clock::now();
    entry->deadline.expires_after(limits_.time);
    entry->deadline.async_wait([this, id, alive = alive_](const asio::error_code& error) {
        if (!error && *alive) fail(id, "it did not complete the TLS handshake in time", true);
    });
    return *entries_.emplace(id, std::move(entry)).first->second;
}

void Handshakes::dial(Dial dial, OwnedFd fd, std::shared_ptr<const TlsContext> context) {
    Id id = 0;
    Entry& entry = add(std::move(fd), std::move(context), id);
    entry.dial = dial;
    entry.connection = TlsConnection::to(entry.context, dial.peer);
    take_turn(id);
}

void Handshakes::accept(OwnedFd fd, std::shared_ptr<const TlsContext> context, bool member) {
    if (!member) {
        const std::string remote = tcp::addresses_of(fd.get()).remote;
        if (!make_room_for_stranger(tcp::host_of(remote)))
            return callbacks_.failed(
                {{}, remote, "too many TLS handshakes of strangers are under way", true});
    }
    Id id = 0;
    Entry& entry = add(std::move(fd), std::move(context), id);
    entry.member = member;
    ++accepted_;
    wait(id, Wait::wait_read);
}

/// False: there is none, and whoever is there has had no time yet. Who says nothing has less of it
/// than who is at work; both have enough for a way around the world.
bool Handshakes::make_room_for_stranger(const std::string& host) {
    std::vector<Id> of_address;
    std::vector<Id> of_strangers;
    for (const auto& [id, entry] : entries_) {
        if (entry->dial || entry->member) continue;
        of_strangers.push_back(id);
        if (entry->host == host) of_address.push_back(id);
    }
    const bool is_full = of_address.size() >= limits_.of_address;
    if (!is_full && of_strangers.size() < limits_.of_strangers) return true;
    const auto now = Clock::now();
    for (const Id id : is_full ? of_address : of_strangers) {
        const Entry& entry = *entries_.at(id);
        const auto patience = limits_.time / (entry.connection ? 2 : 5);
        if (now - entry.begun < patience) continue;
        give_up(id);
        return true;
    }
    return false;
}

void Handshakes::give_up(Id id) {
    fail(id, "it did not complete the TLS handshake before too many others had come", true);
}

bool Handshakes::give_up_one(bool strangers_only) {
    const auto oldest = [this](bool strangers) {
        return std::find_if(entries_.begin(), entries_.end(), [&](const auto& one) {
            return !one.second->dial && (!strangers || !one.second->member);
        });
    };
    auto found = oldest(true);
    if (found == entries_.end() && !strangers_only) found = oldest(false);
    if (found == entries_.end()) return false;
    give_up(found->first);
    return true;
}

void Handshakes::wait(Id id, Wait::wait_type what) {
    entries_.at(id)->descriptor.async_wait(
        what, [this, id, alive = alive_](const asio::error_code& error) {
            if (!error && *alive) take_turn(id);
        });
}

void Handshakes::take_turn(Id id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    const bool member = found->second->dial || found->second->member;
    (member ? members_turn_ : strangers_turn_).push_back(id);
    turn();
}

void Handshakes::turn() {
    for (std::deque<Id>* const queue : {&members_turn_, &strangers_turn_})
        while (!queue->empty() && !entries_.contains(queue->front())) queue->pop_front();
    if (turning_ || (members_turn_.empty() && strangers_turn_.empty())) return;
    turning_ = true;
    asio::post(io_, [this, alive = alive_] {
        if (!*alive) return;
        turning_ = false;
        if (members_turn_.empty() && strangers_turn_.empty()) return;
        std::deque<Id>& queue = members_turn_.empty() ? strangers_turn_ : members_turn_;
        const Id id = queue.front();
        queue.pop_front();
        work(id);
        if (*alive) turn();
    });
}

void Handshakes::work(Id id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    Entry& entry = *found->second;
    if (!entry.connection && !look_at_first_byte(id, entry)) return;
    switch (entry.connection->step(entry.descriptor.native_handle())) {
        case TlsConnection::Step::wants_read: return wait(id, Wait::wait_read);
        case TlsConnection::Step::wants_write: return wait(id, Wait::wait_write);
        case TlsConnection::Step::failed: return fail(id, entry.connection->problem(), false);
        case TlsConnection::Step::done: break;
    }
    const std::unique_ptr<Entry> done = take(id);
    OwnedFd fd(done->descriptor.release());
    callbacks_.done(done->dial, std::move(fd), std::move(done->connection));
}

bool Handshakes::look_at_first_byte(Id id, Entry& entry) {
    std::array<std::byte, mourn_frame_bytes> beginning{};
    const int socket = entry.descriptor.native_handle();
    const ssize_t count = ::recv(socket, beginning.data(), beginning.size(), MSG_PEEK);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        wait(id, Wait::wait_read);
        return false;
    }
    if (count <= 0) {
        fail(id, "", false);
        return false;
    }
    const auto first = std::to_integer<unsigned char>(beginning.front());
    if (first == tls_handshake) {
        entry.connection = TlsConnection::from_anybody(entry.context);
        return true;
    }
    const auto read = std::span(beginning).first(static_cast<std::size_t>(count));
    if (looks_like_mourn(read) && !plain_too_) {
        // An undertaker sends it whole. Whoever does not is not told anything, and has had no place
        // but the one that strangers have.
        if (read.size() < beginning.size() || !callbacks_.may_mourn(read)) {
            fail(id, "", false);
        } else {
            const std::unique_ptr<Entry> mourner = take(id);
            callbacks_.notice(OwnedFd(mourner->descriptor.release()));
        }
        return false;
    }
    if (first == frame_begin && plain_too_) {
        const std::unique_ptr<Entry> plain = take(id);
        callbacks_.plain(OwnedFd(plain->descriptor.release()));
        return false;
    }
    if (first == frame_begin) ::send(socket, speak_tls.data(), speak_tls.size(), MSG_NOSIGNAL);
    fail(id,
         first == frame_begin ? "it does not use TLS; all members need the same --security"
                              : "what it sends is not TLS",
         false);
    return false;
}

std::unique_ptr<Handshakes::Entry> Handshakes::take(Id id) {
    auto taken = entries_.extract(id);
    if (!taken.mapped()->dial) --accepted_;
    taken.mapped()->deadline.cancel();
    return std::move(taken.mapped());
}

void Handshakes::fail(Id id, std::string why, bool late) {
    if (!entries_.contains(id)) return;
    const std::unique_ptr<Entry> entry = take(id);
    asio::error_code ignored;
    entry->descriptor.close(ignored);
    callbacks_.failed({entry->dial, entry->remote, std::move(why), late});
}

}  // namespace bullring
