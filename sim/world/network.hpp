// Which machine can reach which, and one TCP connection as the two ends see it: two pipes that keep
// their order and lose nothing, a FIN behind what was sent before it, resets that overtake, ends
// that are gone without a word.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/values/events.hpp"
#include "protocol/values/messages.hpp"
#include "sim/world/types.hpp"

namespace bullring::sim {

/// One-way cuts between ordered pairs.
class Links {
public:
    explicit Links(std::size_t hosts) : hosts_(hosts), cut_(hosts * hosts, false) {}

    bool cut(HostIndex from, HostIndex to) const { return cut_[from * hosts_ + to]; }
    void set(HostIndex from, HostIndex to, bool cut) { cut_[from * hosts_ + to] = cut; }
    std::size_t hosts() const { return hosts_; }

private:
    std::size_t hosts_;
    std::vector<bool> cut_;
};

/// The two ends: the one that dialled and the one that accepted.
enum Side : std::uint32_t { dialler_side = 0, acceptor_side = 1 };

constexpr Side other(Side side) { return side == dialler_side ? acceptor_side : dialler_side; }

/// A message under way in one direction, oldest first. No message: a FIN.
struct Parcel {
    Time arrival = 0;  // `end_of_time` while the link is cut
    std::optional<protocol::Message> message;
};

class Pipe {
public:
    bool empty() const { return head_ == parcels_.size(); }
    std::size_t size() const { return parcels_.size() - head_; }
    Parcel& front() { return parcels_[head_]; }
    Parcel& operator[](std::size_t i) { return parcels_[head_ + i]; }
    const Parcel& operator[](std::size_t i) const { return parcels_[head_ + i]; }
    void push(Parcel&& parcel) { parcels_.push_back(std::move(parcel)); }
    void pop() {
        ++head_;
        if (empty()) clear();
    }
    void erase(std::size_t i) {
        parcels_.erase(parcels_.begin() + static_cast<std::ptrdiff_t>(head_ + i));
    }
    void cut_behind(std::size_t count) {
        if (count < size()) parcels_.resize(head_ + count);
    }
    void clear() {
        parcels_.clear();
        head_ = 0;
    }

    Time last_arrival = 0;

private:
    std::vector<Parcel> parcels_;
    std::size_t head_ = 0;
};

struct End {
    HostIndex host = 0;
    std::uint32_t run = 0;
    bool open = true;           // the process still has the socket, and it is not in error
    bool told = false;          // the node has heard that the session is over
    bool in_error = false;      // no FIN can come of it any more, and its node has not let it go
    bool process_gone = false;  // nobody has the socket any more: data is answered by RST
    std::optional<protocol::SessionEnd> breaking;  // an error is on its way to it
    Time unanswered_since = -1;  // sent, and no acknowledgement since; −1: nothing
    Pipe outgoing;
};

struct Connection {
    std::array<End, 2> ends;
    HostIndex dialled = 0;     // the member that the dialler takes the other end for
    bool established = false;  // the handshake is done
    bool forgotten = false;    // something between the two has dropped it: nothing passes any more

    End& dialler() { return ends[dialler_side]; }
    End& acceptor() { return ends[acceptor_side]; }
};

}  // namespace bullring::sim
