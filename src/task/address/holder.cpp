#include "src/task/address/holder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"
#include "src/task/address/address_table.hpp"

namespace bullring {

namespace {

using protocol::Duration;

/// Three of them fit into the time after which the kernel would take an address off.
constexpr Duration renew_every = protocol::seconds(1);
static_assert(address_lifetime_s >= 3);

/// When the address is announced, from the beginning on: once at once, and again for those that
/// have not heard it. A switch may still be learning, and ARP is not repeated by anybody.
constexpr std::array announce_at{
    Duration{0},          protocol::milliseconds(100), protocol::milliseconds(500),
    protocol::seconds(1), protocol::seconds(2),        protocol::seconds(5)};
/// Another host has answered by then.
constexpr Duration listen_for = protocol::seconds(6);

class Holder {
public:
    explicit Holder(const Holding& holding) : holding_(holding), addresses_(holding.addresses) {}

    [[noreturn]] void run() {
        if (const int error = is_somebody_elses() ? EEXIST : renew(); error != 0) {
            if (::write(holding_.ready, &error, sizeof error) < 0) ::_exit(1);
            ::_exit(1);
        }
        tell_neighbours();
        ::close(holding_.ready);
        holding_.announcer.ask(addresses_.all());
        sigset_t end;
        ::sigemptyset(&end);
        ::sigaddset(&end, SIGTERM);
        const OwnedFd ends(::signalfd(-1, &end, SFD_CLOEXEC));
        while (true) {
            pollfd wakers[] = {{ends.get(), POLLIN, 0},
                               {listens() ? holding_.announcer.fd() : -1, POLLIN, 0}};
            ::poll(wakers, 2, wait_ms());
            if (wakers[0].revents != 0) ::_exit(0);
            if (wakers[1].revents != 0) hear();
            look();
        }
    }

private:
    Duration since_start() const { return protocol::elapsed(start_, read_clock()); }

    bool listens() const { return since_start() < listen_for; }

    int wait_ms() const {
        Duration until = renewed_ + renew_every;
        if (announced_ < announce_at.size()) until = std::min(until, announce_at[announced_]);
        return static_cast<int>(std::max<std::int64_t>((until - since_start()).ns, 0) / 1'000'000) +
               1;
    }

    /// On any interface and with any prefix length: this host would keep it beside the next
    /// leader's.
    bool is_somebody_elses() const {
        const auto present = present_addresses();
        return present &&
               std::any_of(present->begin(), present->end(), [this](const PresentAddress& one) {
                   return !one.ours && is_one_of(addresses_.all(), one.address);
               });
    }

    int renew() {
        renewed_ = since_start();
        for (const InterfaceAddress& address : addresses_.all())
            if (const int error = put_on(addresses_.device(), address); error != 0) return error;
        return 0;
    }

    /// After a long sleep it may be another node's turn, which would not want to be spoken against.
    bool leads() const {
        const auto lease = holding_.page.read();
        return lease && lease->epoch == holding_.epoch &&
               protocol::lease_valid(read_clock(), lease->deadline);
    }

    void look() {
        const Duration now = since_start();
        if (!leads()) return;
        if (now >= renewed_ + renew_every) {
            // Also when somebody else has taken them off.
            if (const int error = renew(); error != 0) {
                complain(LogLevel::error,
                         fmt::format("cannot keep its address on {}: {}", addresses_.device(),
                                     std::generic_category().message(error)));
                finish_log_lines();
                ::_exit(1);
            }
        }
        if (announced_ < announce_at.size() && now >= announce_at[announced_]) tell_neighbours();
    }

    void tell_neighbours() {
        ++announced_;
        for (const InterfaceAddress& address : addresses_.all()) {
            const int error = holding_.announcer.announce(address);
            if (error == 0 || std::exchange(complained_, true)) continue;
            complain(LogLevel::warn,
                     fmt::format("cannot announce {} on {}: {}", host_text(address),
                                 addresses_.device(), std::generic_category().message(error)));
        }
    }

    void hear() {
        const auto conflict = holding_.announcer.hear(addresses_.all());
        if (!conflict || conflict == reported_) return;
        reported_ = conflict;
        complain(LogLevel::warn, *conflict +
                                     "; another host has this address: one without bullring, or a "
                                     "member that has not taken it off, as one that is frozen");
    }

    void complain(LogLevel level, const std::string& text) const {
        print_log_line(holding_.log_format, holding_.self, level, text);
    }

    const Holding& holding_;
    const HeldAddresses& addresses_;
    protocol::Instant start_ = read_clock();
    Duration renewed_{0};
    std::size_t announced_ = 0;
    bool complained_ = false;
    std::optional<std::string> reported_;
};

}  // namespace

void hold_addresses(const Holding& holding) {
    ::prctl(PR_SET_NAME, "bullring-holder", 0, 0, 0);
    Holder(holding).run();
}

HeldAddresses::HeldAddresses(std::string device, const Command& texts)
    : device_(std::move(device)) {
    if (device_.empty()) return;
    for (const std::string& text : texts)
        if (const auto address = parse_interface_address(text)) addresses_.push_back(*address);
}

bool HeldAddresses::take_off() const { return bullring::take_off(addresses_) == 0; }

}  // namespace bullring
