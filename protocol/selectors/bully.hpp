// The Bully algorithm (Garcia-Molina 1982) as the selector of PROTOCOL §7: who stands is the
// highest connected, eligible, quorum-connected node. It decides nothing about safety; that is
// the business of lease/ (R1-R3).
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "protocol/selectors/member_access.hpp"

namespace bullring::protocol {

class Bully {
public:
    static constexpr Algorithm algorithm = Algorithm::bully;

    explicit Bully(const Config& /*config*/) {}

    void on_message(MemberAccess& member, Step& step, Index from, const Election& message);
    void on_message(MemberAccess& member, Step& step, Index from, const Ok& message);
    void on_message(MemberAccess& member, Step& step, Index from, const Decline& message);
    void on_message(MemberAccess& member, Step& step, Index from, const LeaderIs& message);
    /// Timers and conditions, after every event.
    void advance(MemberAccess& member, Step& step);
    /// Carries a lease request to the voters: to all of them directly.
    void carry(MemberAccess& member, Step& step, const AddressedRequest& asked);
    void collect_wakes(WakeTime& wake) const;
    bool operator==(const Bully&) const = default;
    auto digest_fields() const {
        return std::tie(phase_, attempt_, asked_, until_, deferred_to_, wants_to_start_, fruitless_,
                        ignored_until_);
    }

private:
    enum class Phase : std::uint8_t { idle, polling, deferring };

    void start(MemberAccess& member, Step& step, const char* reason);
    void stand(MemberAccess& member, Step& step);
    void become_idle();

    Phase phase_ = Phase::idle;
    std::uint64_t attempt_ = 0;
    MemberSet asked_;        // polling: who has not answered yet
    Instant until_ = never;  // T_ok while polling, T_coord while deferring
    Index deferred_to_ = 0;
    bool wants_to_start_ = false;          // a lower node has asked, and got OK
    std::vector<std::uint8_t> fruitless_;  // waits on a node that led to no leader
    std::vector<Instant> ignored_until_;   // its OKs do not count until then
};

}  // namespace bullring::protocol
