// Owns: the records of an omniscient observer: the promises that were really given, their latest
// ends, and the grants that really reached their holder. Reads nothing of the nodes' own records;
// the checks compare the two.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sim/world/world.hpp"

namespace bullring::sim {

/// A promise as it was given: one entry for each GRANT.
struct GivenPromise {
    protocol::HolderKey holder;
    Epoch epoch;
    Duration lease;               // as it was asked for
    Instant end;                  // by the voter's unbroken clocks
    SessionId tied;               // the voter's end of the session; `no_session`: to none
    std::uint32_t run = 0;        // the voter's, when it gave it
    bool tie_lost = false;        // that session ended otherwise than by EOF
    protocol::Membership list{};  // under which it was given
};

/// A grant that reached its holder and may be counted.
struct ReceivedGrant {
    HostIndex voter = 0;
    Epoch epoch;
    Instant end;          // by the holder's clock
    SessionId tied;       // the holder's end
    protocol::Tag tag{};  // of the list that the voter had
    Incarnation by{};     // the voter's
    /// It was asked for at the very instant of the barrier's report: after it, or before.
    bool perhaps = false;
};

class Ledger {
public:
    explicit Ledger(std::size_t hosts)
        : given_(hosts),
          received_(hosts),
          acknowledged_(hosts, std::vector<Incarnation>(hosts)),
          own_token_(hosts),
          granted_(hosts),
          resigned_(hosts),
          last_asked_(hosts, protocol::long_ago),
          barriers_(hosts, std::vector<Barrier>(hosts)),
          recalled_(hosts),
          gave_(hosts) {}

    // ---- Facts that come in, in the order of what happens.
    /// Writes down what a message that `h` reads releases or grants.
    void before_step(const World& world, HostIndex h, Instant now, const protocol::Event& event);
    /// The promise in this message, if it is a new one.
    const GivenPromise* note_send(const World& world, HostIndex h, Instant now,
                                  const protocol::Send& send);
    void note_death(HostIndex h) {
        received_[h].clear();
        own_token_[h] = {};
        acknowledged_[h].assign(acknowledged_[h].size(), {});
        resigned_[h].clear();
        last_asked_[h] = protocol::long_ago;
        barriers_[h].assign(barriers_[h].size(), {});
        recalled_[h].clear();
    }
    /// A run of a voter is bound by no promise that it has not made itself (R6).
    void forget_earlier_runs(const World& world, HostIndex voter);
    /// No grant of its earlier runs elects anybody, or binds it any more (C8.4).
    void void_earlier_runs(const World& world, HostIndex voter);
    bool is_void(const ReceivedGrant& grant) const { return void_.count(grant.by) != 0; }

    // ---- Questions.
    std::vector<GivenPromise>& given(HostIndex voter) { return given_[voter]; }
    const std::vector<ReceivedGrant>& received(HostIndex holder) const { return received_[holder]; }
    /// The highest epoch that this run has resigned, as far as the voter has read it.
    Epoch resigned(HostIndex voter, Incarnation run) const {
        const auto found = resigned_[voter].find(run);
        return found == resigned_[voter].end() ? Epoch{} : found->second;
    }
    /// Whether this run of `holder` has answered that run of a voter which of its grants it counts
    /// (R6).
    bool has_recalled(HostIndex holder, Incarnation voter) const {
        return recalled_[holder].count(voter) != 0;
    }
    /// The release that the last event at a voter has caused, for the counts.
    bool released_by_eof() const { return released_by_eof_; }
    bool released_by_resign() const { return released_by_resign_; }
    bool released_by_notice() const { return released_by_notice_; }

    /// P(x) of the specification, written down a second time: ⌈x(1+ρ)/(1−ρ)⌉ + 1.
    static Duration promise(Duration lease, std::uint32_t rho_ppm);

private:
    GivenPromise* give(const World& world, HostIndex voter, Instant now,
                       const GivenPromise& promise, Duration lease);
    void receive(const World& world, HostIndex h, Instant now, const ReceivedGrant& grant,
                 Incarnation voter, const protocol::Coordinator& request);
    /// Whether this copy of one of the owner's own tokens is new to it (§8), which it is then no
    /// more.
    bool comes_home(HostIndex owner, const protocol::Walk& walk);
    void note_answer(const World& world, HostIndex h, Instant now, SessionId session,
                     const protocol::HelloAck& ack);
    void session_ended(const World& world, HostIndex h, Instant now,
                       const protocol::SessionEnded& ended);
    void resigned(const World& world, HostIndex h, Instant now, SessionId session,
                  const protocol::Resign& resign);
    void died(const World& world, HostIndex h, Instant now, const protocol::Died& died);

    std::vector<std::vector<GivenPromise>> given_;        // by voter
    std::vector<std::vector<ReceivedGrant>> received_;    // by holder
    std::vector<std::vector<Incarnation>> acknowledged_;  // by holder and voter, the newest
    std::vector<std::pair<std::uint64_t, std::uint32_t>> own_token_;  // round and step, by holder
    /// The grants that each voter has put on tokens: a hop that is sent again is no new grant.
    struct OnToken {
        Incarnation voter;
        Incarnation owner;
        std::uint64_t round = 0;
        auto operator<=>(const OnToken&) const = default;
    };
    std::vector<std::set<OnToken>> granted_;
    std::vector<std::map<Incarnation, Epoch>> resigned_;  // by voter, in its run
    std::vector<Instant> last_asked_;  // by holder: the stamp of its last request
    struct Barrier {
        Instant asked = protocol::long_ago;  // what was granted of requests up to it is not counted
        Instant reported = protocol::long_ago;
    };
    std::vector<std::vector<Barrier>> barriers_;   // by holder and voter
    std::vector<std::set<Incarnation>> recalled_;  // by holder, in its run
    std::vector<std::set<Incarnation>> gave_;      // by voter: the runs that have granted something
    std::set<Incarnation> void_;
    OnToken token_read_;               // by the event of this step, if it was a coordinator token
    bool answers_recovering_ = false;  // this step, a HELLO of one that asks what it has promised
    bool released_by_eof_ = false;
    bool released_by_resign_ = false;
    bool released_by_notice_ = false;
};

}  // namespace bullring::sim
