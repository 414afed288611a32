// The invariants of protocol/README §13, judged from outside after every step. Each check has its
// own function, named in the violation that it reports; the first violation is kept.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/check/coverage.hpp"
#include "sim/check/ledger.hpp"
#include "sim/check/violation.hpp"

namespace bullring::sim {

/// To whom an epoch belongs, of the newest that were noted.
class EpochHolders {
public:
    struct Held {
        Epoch epoch;
        protocol::HolderKey holder;
        bool forgotten = false;  // the disk that knew it is lost
    };
    const Held* find(Epoch epoch) const {
        for (const Held& held : noted_)
            if (held.epoch == epoch) return &held;
        return nullptr;
    }
    void note(Epoch epoch, protocol::HolderKey holder) {
        std::erase_if(noted_, [epoch](const Held& held) { return held.epoch == epoch; });
        if (noted_.size() == remembered) noted_.erase(noted_.begin());
        noted_.push_back({epoch, holder});
    }
    void forget() {
        for (Held& held : noted_) held.forgotten = true;
    }

private:
    static constexpr std::size_t remembered = 16;
    std::vector<Held> noted_;
};

class Checks : public Observer {
public:
    explicit Checks(const World& world);

    const std::optional<Violation>& violation() const { return violation_; }
    /// For who judges something else, such as an expectation that is not met.
    void fail(const World& world, const char* check, std::string what);

    Coverage& coverage() { return coverage_; }
    const Coverage& coverage() const { return coverage_; }
    std::uint64_t elections() const { return elections_; }
    std::uint64_t depositions() const { return depositions_; }
    Epoch newest_epoch() const;

    void before_step(const World& world, HostIndex h, Instant now,
                     const protocol::Event& event) override;
    void on_action(const World& world, HostIndex h, Instant now,
                   const protocol::Action& action) override;
    void after_step(const World& world, HostIndex h, Instant now) override;
    void on_page(const World& world, HostIndex h, const Client& client) override;
    void on_incident(const World& world, const Incident& incident) override;

private:
    /// Where it was founded, and by whom.
    using Founding = std::pair<Site, std::vector<NodeId>>;
    /// All that is judged within one cluster, and not between two.
    struct Cluster {
        EpochHolders elected_in;
        std::map<protocol::Tag, protocol::Membership> lists;  // all that there ever were
        Epoch newest_epoch;                                   // of all that were elected
        NodeId newest_leader;
        protocol::ClusterId id;  // once it is settled
    };

    // checks.cpp
    void check_time_passes(const World& world);
    bool excused(const World& world, std::string_view check) const;
    static Founding founding(const World& world, HostIndex h);
    // check_leases.cpp: I1, I2, I3
    void check_published(const World& world, HostIndex h, const protocol::Publish& publish);
    void check_elected(const World& world, HostIndex h, const protocol::Elected& elected);
    // check_promises.cpp: I2, I4, I6, I7, I8, I13, L3
    void check_given(const World& world, HostIndex h, Instant now, const GivenPromise& given);
    void check_own_promise(const World& world, HostIndex h, Instant now);
    void check_conflicts(const World& world, HostIndex h, Instant now, protocol::HolderKey holder);
    void check_cover(const World& world, HostIndex h, protocol::HolderKey holder);
    void check_one_holder(const World& world, HostIndex h, Epoch epoch, protocol::HolderKey holder);
    void check_silence_to_come(const World& world, HostIndex h, protocol::Duration promised);
    /// A grant has ended by one of the holder's clocks at least, or by both.
    enum class Until : std::uint8_t { end_by_one, end_by_both };
    bool counts(const World& world, HostIndex holder, HostIndex voter, Until until) const;
    bool was_told_without_vote(const World& world, HostIndex h, Instant now) const;
    void void_earlier_runs(const World& world, HostIndex h, Instant now);
    void check_silence_over(const World& world, HostIndex h, Instant now);
    void check_kept(const World& world, HostIndex h, Instant now);
    void check_candidacy_length(const World& world, HostIndex h, Instant now);
    // check_holder.cpp: I5, I9, I10, I12
    void check_deadline(const World& world, HostIndex h, const protocol::Publish& publish);
    bool backed(const World& world, HostIndex h, const protocol::Publish& publish,
                const protocol::Membership& list) const;
    void check_close(const World& world, HostIndex h, Instant now,
                     const protocol::CloseSession& close);
    void check_resign(const World& world, HostIndex h, const protocol::Resign& resign);
    void check_request(const World& world, HostIndex h, const protocol::Coordinator& request);
    void check_no_other_task(const World& world, HostIndex h);
    // check_clients.cpp: I23, and I10 of attached processes
    void check_no_page_elsewhere(const World& world, HostIndex h);
    void check_alone(const World& world, HostIndex h);
    void check_pages_empty(const World& world, HostIndex h, Epoch resigned);
    void count_client(const Incident& incident);
    // check_twins.cpp: I7 of a node that has heard of another process with its id
    void note_twin(const World& world, HostIndex h, Instant now, const protocol::Receive& receive);
    void check_twin_silence(const World& world, HostIndex h, Instant now);
    // check_calm.cpp: L2, that nobody is suspected, or handed the leadership, too soon
    void check_suspicion(const World& world, HostIndex h, Instant now);
    void note_leadership(const World& world, HostIndex h);
    void check_handover(const World& world, HostIndex h);
    // check_members.cpp: I14 to I19, I21, L6
    /// The holder surely counts what was granted under that tag (C5).
    static bool echoes(const World& world, HostIndex holder, const ReceivedGrant& grant);
    void note_list(const World& world, Site site, const protocol::Membership& list);
    void check_provenance(const World& world, HostIndex h, const protocol::Membership& list);
    void check_identity(const World& world, HostIndex h);
    bool is_alive(const World& world, Site site, const protocol::Membership& list) const;
    /// `given`: the vote of that host, too, whatever its disk has.
    bool can_elect(const World& world, Site site, const protocol::Membership& list,
                   std::optional<HostIndex> given = std::nullopt) const;
    void check_lists(const World& world, const Founding& of);
    void check_list_written(const World& world, HostIndex h);
    void check_counted_by_members(const World& world, HostIndex voter);
    void check_grant_tag(const World& world, HostIndex h, const protocol::Grant& grant);
    void check_proposal(const World& world, HostIndex h, Instant now);
    void note_word(const World& world, HostIndex h, Instant now, const protocol::Event& event);
    void check_removals(const World& world, HostIndex h, Instant now,
                        const protocol::Membership& base, const protocol::Membership& newest);
    void check_stale_members(const World& world, HostIndex h, Instant now, NodeId holder,
                             const protocol::Nack& nack);
    // check_messages.cpp: I11, I20, R9, L5, what is counted of messages
    void check_message(const World& world, HostIndex h, Instant now, const protocol::Send& send);
    void check_disk(const World& world, HostIndex h, Epoch epoch);
    void check_durable(const World& world, HostIndex h, const protocol::Durable& durable);
    void check_version(const World& world, HostIndex h, SessionId session, std::uint16_t version);
    void check_walk(const World& world, HostIndex h, const protocol::Walk& walk);
    void count_message(HostIndex h, const protocol::Send& send);
    void count_event(const World& world, HostIndex h, const protocol::Event& event);
    void count_action(const World& world, HostIndex h, const protocol::Action& action);

    Ledger ledger_;
    Coverage coverage_;
    std::optional<Violation> violation_;

    struct OfHost {
        Epoch elected_in;       // the epoch of its last leadership
        NodeId handed_over_to;  // named by its last RESIGN of a leadership
        /// To whom it has handed over who did not lead for T_stable since, and when it was elected
        /// again after that; −1: not yet.
        std::map<NodeId, Time> held_off;
        struct Twin {
            Instant over;
            bool taken = false;  // the peer has taken this node since
        };
        std::map<HostIndex, Twin> twins;  // by the peer that has reported one
        Time well_since = -1;             // −1: it has not been unhealthy
        NodeId successor;                 // named by RESIGNs that it has read; `nobody`: none
        Instant own_promise_end;          // of its promise to itself, as seen last
        Epoch own_promise_epoch;
        Instant promise_end;  // of its promise to whomever, as seen last
        Epoch vmax;           // the highest epoch that it says it has granted, in this run
        bool recovering = true;
        bool event_was_persisted = false;
        struct Parked {
            Incarnation of;
            Epoch epoch;
        };
        std::vector<Parked> parked;
        struct Token {
            NodeId owner;
            Incarnation incarnation;
            std::uint64_t round = 0;
            std::uint32_t step = 0;         // the furthest that was read
            std::uint64_t sent_before = 0;  // steps, as bits: a lost hop goes out once more
            bool of_many_runs = false;      // of its owner; which are the last two, nobody can tell
        };
        std::vector<Token> tokens;         // the newest of each run of each owner
        protocol::Membership base_before;  // the list that decided before this step
        protocol::Membership proposed;     // the list that its last request had
        Epoch proposed_in;
        std::set<NodeId> to_remove;              // as operators have asked this run of it
        std::map<HostIndex, Instant> last_word;  // on a session that was dialled to it
        Instant leads_since;
    };
    // check_messages.cpp
    OfHost::Token* token_at(HostIndex h, NodeId owner, Incarnation incarnation,
                            std::uint64_t round);

    std::vector<OfHost> of_;           // in this run
    std::vector<EpochHolders> voted_;  // by voter, in all of its runs
    std::map<Founding, Cluster> clusters_;
    std::map<ClientId, Founding> leads_in_;       // as its page has said last
    std::vector<protocol::Membership> on_disk_;   // as seen last
    std::vector<protocol::Identity> identities_;  // likewise
    std::vector<bool> has_copy_;                  // of another machine's disk, likewise
    bool disk_was_lost_ = false;
    NodeId last_elected_;
    std::uint64_t elections_ = 0;
    std::uint64_t depositions_ = 0;
    Time last_elected_at_ = 0;
    Time instant_ = -1;  // of the last step, and how many there were at it
    std::uint64_t steps_at_instant_ = 0;
};

}  // namespace bullring::sim
