// The parts of a node that never change in one run, its configuration and its own name; and the
// members that it deals with, of which it has one list at a time.
#pragma once

#include <memory>
#include <optional>
#include <tuple>

#include "protocol/values/config.hpp"

namespace bullring::protocol {

/// The parts of a node and all copies of it share one: copying it is cheap, and nobody can change
/// it.
class Setup {
public:
    Setup(const Config& config, const Start& start);
    // There is no move: a node that was moved from is still a node.
    Setup(const Setup&) = default;
    Setup& operator=(const Setup&) = default;
    ~Setup() = default;

    const Config& config() const { return shared_->config; }
    const Timing& timing() const { return config().timing; }
    /// All that this node deals with, itself included: the members of its list, and of the one that
    /// it proposes.
    const Membership& members() const { return members_; }
    void set_members(const Membership& members);
    std::size_t size() const { return members().size(); }
    NodeId id(Index i) const { return members().id(i); }

    NodeId self() const { return config().self; }
    Index me() const { return me_; }
    /// All members but this one.
    MemberSet others() const { return others_; }
    Incarnation incarnation() const { return shared_->incarnation; }
    const Commitment& commitment() const { return shared_->commitment; }
    HolderKey own_key() const { return {self(), incarnation()}; }
    Rank own_rank() const { return {config().priority, self()}; }
    Instant started() const { return shared_->started; }

    /// P(lease-max): nothing binds anybody for longer.
    Duration longest_promise() const { return timing().promise(timing().lease_max); }

    /// Copies of one node share it; replays have equal ones.
    bool operator==(const Setup& other) const {
        return (shared_ == other.shared_ || *shared_ == *other.shared_) &&
               members_ == other.members_;
    }
    /// Without the configuration, which is the same in all that is ever compared.
    auto digest_fields() const {
        return std::tie(members_, shared_->incarnation, shared_->started);
    }

private:
    struct Shared {
        Config config;
        Incarnation incarnation;
        Commitment commitment;
        Instant started;
        bool operator==(const Shared&) const = default;
    };
    std::shared_ptr<const Shared> shared_;
    Membership members_;
    // ---- Derived.
    Index me_ = 0;
    MemberSet others_;
};

}  // namespace bullring::protocol
