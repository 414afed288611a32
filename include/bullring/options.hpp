// Owns: the settings of a node. The names, defaults and meanings are those of the
// flags of `bullring node`; bullring-node(1) explains them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <bullring/export.hpp>

namespace bullring {

enum class Algorithm { bully, ring };
enum class Quorum { majority, none };
enum class Profile { realtime, fast, lan, cloud, wan };
enum class Realtime { on, off, automatic };
enum class FirstEpoch { clock, zero };
enum class FastRelease { off, fin, notice };

/// A value type. What is not given (nullopt, or an empty string) is the flag's default. Not
/// thread-safe, as no value is.
struct Options {
    std::uint64_t id = 0;  // required; 1 … 2^63−1, and in the peer list
    std::string peers;     // "1=host:7100,2=[::1]:7100", or "@FILE"; this or `join` is required
    /// Members of a cluster that runs, "host:7100,…": this node asks there to be added to it, as a
    /// member without a vote, and never founds one. It needs `listen` or `join_as`.
    std::string join;
    std::string join_as;  // with `join`: where the others dial this node, if not where it listens
    bool voter = false;   // with `join`: it asks for a vote, too
    /// A member without a vote that its leader has not heard for so long is removed; 0: never.
    std::optional<std::chrono::nanoseconds> forget_after;  // default: 60 s
    std::string cluster = "bullring";
    Algorithm algorithm = Algorithm::bully;
    std::string listen;       // "host:port"; empty: its entry in the peer list, or `join_as`
    std::string advertise;    // at most 256 bytes of UTF-8, sent to every follower of this node
    int priority = 0;         // −1000 … 1000; the highest (priority, id) wins
    bool never_lead = false;  // `--priority never`: a voter that never leads
    std::optional<bool> preempt;
    std::optional<std::chrono::nanoseconds> preempt_delay;
    Quorum quorum = Quorum::majority;  // run_while_leader() refuses `none`
    Profile profile = Profile::lan;
    std::optional<std::chrono::nanoseconds> heartbeat;
    std::optional<std::chrono::nanoseconds> suspect_after;
    std::optional<std::chrono::nanoseconds> lease;
    std::optional<std::chrono::nanoseconds> lease_max;
    Realtime realtime = Realtime::automatic;
    std::optional<std::chrono::nanoseconds> bootstrap_wait;
    FirstEpoch first_epoch = FirstEpoch::clock;
    /// The signal that releases the lease of a dead leader at once: the end of its TCP sessions, or
    /// the notice of a second process, which is a copy of this one (as fork() makes it, when the
    /// node starts). Unset: `notice` with security, else `fin`. `off` when the task acts through
    /// child processes, which may outlive this one.
    std::optional<FastRelease> fast_release;
    /// Kills the whole host process (SIGKILL) when this node leads and its event loop stands still
    /// for so long: when the process is stopped, or a debugger holds it. Another node then leads as
    /// after a crash. Off by default.
    std::optional<std::chrono::nanoseconds> hang_after;
    /// Speaks at most this version of the wire format; 0: the highest (bullring-upgrade(7)).
    unsigned wire = 0;
    /// Durable state, a directory for each node. Empty: $STATE_DIRECTORY, else
    /// ${XDG_STATE_HOME:-$HOME/.local/state}/bullring/CLUSTER/node-ID.
    std::string data_dir;
    std::string events;  // a file; "-": stdout
    std::string trace;   // a file
    /// HTTP, as bullring-http(7) says, in a thread of its own: "host:port" or "unix:PATH"; empty:
    /// none.
    std::string http;
    bool http_public = false;  // also on addresses other than loopback, and then read-only
    std::string http_token_file;
    /// "tls", "key" or "none", as bullring-security(7) says. Empty: "none" if all peers are on
    /// loopback; else it has to be given. It is the same on all members.
    std::string security;
    std::string key_file;           // with "key"
    std::string observer_key_file;  // with "key": of those who may only ask
    std::string tls_cert;           // with "tls", and so are the next three
    std::string tls_key;
    std::string tls_ca;
    std::string tls_crl;
    bool security_migrate = false;  // take and dial members without security as well

    // ---- What run_while_leader() adds.

    /// A task that does not call report_progress() for so long loses the leadership. Off by
    /// default.
    std::optional<std::chrono::nanoseconds> stall_after;
    /// How long before the lease's end the task is asked to stop. Default: a fifth of the lease.
    std::optional<std::chrono::nanoseconds> stop_margin;
    /// How long a task that has been asked to stop is waited for while the lease is still renewed;
    /// after that the lease runs out, and another node leads although the task still runs.
    std::optional<std::chrono::nanoseconds> step_down_timeout;  // default: 2 s
    /// How long this node does not stand after its task has returned by itself. Default: 1 s.
    std::optional<std::chrono::nanoseconds> restart_delay;

    bool operator==(const Options&) const = default;

    /// One sentence each, with the offending value and what would be right; empty when all is well.
    /// Reads the file that `peers` names, if any.
    BULLRING_API std::vector<std::string> problems() const;
};

/// what() holds all the problems, a line each.
class BULLRING_API ConfigError : public std::invalid_argument {
public:
    explicit ConfigError(std::vector<std::string> problems);
    ConfigError(const ConfigError&) = default;
    ~ConfigError() override;
    const std::vector<std::string>& problems() const noexcept { return problems_; }

private:
    std::vector<std::string> problems_;
};

/// A node, or an observer, cannot start, or can't go on: a port in use, a directory that cannot be
/// written, a full disk.
class BULLRING_API NodeError : public std::runtime_error {
public:
    explicit NodeError(const std::string& what);
    NodeError(const NodeError&) = default;
    ~NodeError() override;
};

}  // namespace bullring
