// Owns: what an administrator does: changes of the members, and handovers. It is `bullring member`
// and `bullring resign` for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <bullring/export.hpp>
#include <bullring/members.hpp>
#include <bullring/observer.hpp>

namespace bullring {

struct AdminAnswer {
    bool done = false;
    std::string why;  // when it is not done, and what would help
    bool operator==(const AdminAnswer&) const = default;
};

struct AdministratorSettings;

/// Finds the leader, asks it, asks again while it refuses for now or is gone, and returns when it
/// is done or `timeout` is over (0 to nanoseconds::max()). What is not in the list yet is added
/// without a vote; one vote is given or taken at a time. What is so already is done. Any thread,
/// several at a time; but not from the task of a node that is to hand over: it would wait for
/// itself. All throw ConfigError for an ID or an address that is none, NodeError when a key or a
/// certificate can't be read; of a name that is being looked up they wait for the resolver.
class BULLRING_API Administrator {
public:
    static constexpr std::chrono::nanoseconds usual_timeout = std::chrono::seconds(10);

    /// From anywhere. `peers` as in Options; the members that a changed list has are asked, too.
    /// With security "tls" the certificate has to be an administrator's. Throws ConfigError.
    explicit Administrator(const std::string& peers, const std::string& cluster = "bullring",
                           const ObserverSecurity& security = {});
    Administrator(Administrator&&) noexcept;
    Administrator& operator=(Administrator&&) noexcept;
    Administrator(const Administrator&) = delete;
    Administrator& operator=(const Administrator&) = delete;
    ~Administrator();

    /// The newest list that any member tells.
    MemberList members(std::chrono::nanoseconds timeout = usual_timeout) const;

    /// `address` is "HOST:PORT", as the other members reach it.
    AdminAnswer add(std::uint64_t id, const std::string& address,
                    std::chrono::nanoseconds timeout = usual_timeout) const;
    /// A leader that is to be removed hands over first.
    AdminAnswer remove(std::uint64_t id, std::chrono::nanoseconds timeout = usual_timeout) const;
    AdminAnswer promote(std::uint64_t id, std::chrono::nanoseconds timeout = usual_timeout) const;
    AdminAnswer demote(std::uint64_t id, std::chrono::nanoseconds timeout = usual_timeout) const;
    AdminAnswer change_address(std::uint64_t id, const std::string& address,
                               std::chrono::nanoseconds timeout = usual_timeout) const;
    /// The leader hands over to `to`, or to the best one (0). Done when another one leads.
    AdminAnswer resign(std::uint64_t to = 0,
                       std::chrono::nanoseconds timeout = usual_timeout) const;

private:
    friend class NodeCore;
    explicit Administrator(std::unique_ptr<const AdministratorSettings> settings);

    std::unique_ptr<const AdministratorSettings> settings_;
};

}  // namespace bullring
