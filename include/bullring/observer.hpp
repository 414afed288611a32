// Owns: following the leader from a process that is not a member: a worker beside a few voters.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <bullring/export.hpp>
#include <bullring/leader.hpp>
#include <bullring/options.hpp>

namespace bullring {

class ObserverCore;

/// How the connections of an observer are secured. The fields are those of Options with the same
/// names; with "key" one of the two key files is enough.
struct ObserverSecurity {
    std::string security;
    std::string key_file;
    std::string observer_key_file;
    std::string tls_cert;
    std::string tls_key;
    std::string tls_ca;
    std::string tls_crl;

    bool operator==(const ObserverSecurity&) const = default;
};

/// Follows one member at a time, and goes on with another when that one is gone. It never votes,
/// and there may be any number of them. All members may be called from any thread; one that was
/// moved from may only be destroyed or assigned to.
class BULLRING_API Observer {
public:
    /// Begins at once. `peers` as in Options. Throws ConfigError.
    explicit Observer(const std::string& peers, const std::string& cluster = "bullring");
    Observer(const std::string& peers, const std::string& cluster,
             const ObserverSecurity& security);
    Observer(Observer&&) noexcept;
    Observer& operator=(Observer&&) noexcept;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    /// Not from a callback of its own.
    ~Observer();

    /// nullopt when no leader is known: at the start, in an election, and when no member can be
    /// reached for 3 s.
    std::optional<Leader> leader() const;
    /// Waits for a leader to be known. nullopt after `timeout`; nanoseconds::max() is for ever.
    std::optional<Leader> wait_for_leader(std::chrono::nanoseconds timeout) const;
    /// As Node::subscribe(); the kind is always Change::Kind::leader.
    Subscription subscribe(ChangeCallback callback);

private:
    std::unique_ptr<ObserverCore> core_;
};

}  // namespace bullring
