// All that a user can ask for, each setting once, with its type and its default. The command line,
// the environment, the file and the library fill it in by the rows of flags.hpp; the checks then
// judge what must hold between values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/values/config.hpp"
#include "src/base/text/endpoint.hpp"
#include "src/settings/node_options.hpp"
#include "src/settings/raw_values.hpp"
#include "src/settings/run_options.hpp"

namespace bullring {

template <class Value>
struct Asked {
    Value value{};       // the default, until another one is given
    bool given = false;  // also when it can't be used, which has been reported
    bool unusable = false;

    std::optional<Value> asked() const {
        return given && !unusable ? std::optional<Value>(value) : std::nullopt;
    }
};

struct Request {
    // A member, and its cluster.
    Asked<protocol::NodeId> id;
    Asked<PeerList> peers;  // its sound entries, even if others are wrong
    Asked<std::string> cluster{protocol::Config().cluster};
    Asked<protocol::Algorithm> algorithm{protocol::Config().algorithm};
    Asked<Endpoint> listen;
    Asked<std::vector<Endpoint>> join;  // its sound entries
    Asked<Endpoint> join_as;
    Asked<protocol::Duration> forget_after{protocol::Config().forget_after};  // 0: never
    Asked<std::string> advertise;
    Asked<protocol::Priority> priority;
    Asked<bool> preempt;
    Asked<protocol::QuorumMode> quorum{protocol::Config().quorum};
    Asked<protocol::Duration> bootstrap_wait{protocol::Config().bootstrap_wait};
    Asked<protocol::FirstEpoch> first_epoch{protocol::Config().first_epoch};
    Asked<protocol::FastRelease> fast_release;
    Asked<RealtimeMode> realtime{NodeOptions().realtime};
    Asked<protocol::Duration> hang_after;  // 0: off
    Asked<std::int64_t> wire{protocol::Config().wire_highest};
    Asked<bool> allow_drill;
    Asked<std::string> data_dir;
    Asked<std::string> config;  // has been read
    Asked<std::string> events;
    Asked<std::string> trace;

    // Its timing.
    Asked<protocol::Profile> profile{protocol::TimingRequest().profile};
    Asked<protocol::Duration> heartbeat;
    Asked<protocol::Duration> suspect_after;
    Asked<protocol::Duration> lease;
    Asked<protocol::Duration> lease_max{protocol::TimingRequest().lease_max};
    Asked<protocol::Duration> preempt_delay{protocol::TimingRequest().preempt_delay};

    Asked<std::string> http;
    Asked<bool> http_public;
    Asked<std::string> http_token_file;

    Asked<AttachMode> attach{AttachOptions().mode};
    Asked<std::string> attach_group;

    Asked<SecurityMode> security;
    Asked<std::string> key_file;
    Asked<std::string> observer_key_file;
    Asked<std::string> tls_cert;
    Asked<std::string> tls_key;
    Asked<std::string> tls_ca;
    Asked<std::string> tls_crl;
    Asked<bool> security_migrate;

    Asked<std::string> on_elected;
    Asked<std::string> on_deposed;
    Asked<std::string> on_change;
    Asked<std::string> health_cmd;
    Asked<protocol::Duration> health_interval{HealthOptions().interval};
    Asked<protocol::Duration> health_timeout{HealthOptions().timeout};
    Asked<std::int64_t> health_failures{HealthOptions().failures};

    // The work of a leader.
    Asked<protocol::Duration> kill_after{RunOptions().kill_after};
    Asked<OnExit> on_exit{RunOptions().on_exit};
    Asked<protocol::Duration> restart_delay{RunOptions().restart_delay};
    Asked<std::int64_t> max_restarts;
    Asked<protocol::Duration> stall_after;  // 0: off
    Asked<bool> pass_hup;
    Asked<protocol::Duration> stop_margin;
    Asked<protocol::Duration> step_down_timeout;
    Asked<std::string> address;
    Asked<std::string> dev;

    // The subcommands that end by themselves.
    Asked<bool> check;
    Asked<std::string> unit;
    Asked<bool> strict;
    Asked<bool> actions;
    Asked<bool> json;
    Asked<bool> text;
    Asked<bool> local;
    Asked<bool> wait;                    // of `status`
    Asked<protocol::Duration> wait_for;  // of `lead`
    Asked<protocol::Duration> answers_within{protocol::seconds(1)};
    Asked<protocol::Duration> resigned_within{protocol::seconds(5)};
    Asked<protocol::Duration> changed_within{protocol::seconds(10)};
    Asked<protocol::NodeId> to;
    Asked<bool> voter;
    Asked<bool> others_are_lost;
    Asked<protocol::Duration> clock_error{protocol::milliseconds(10)};
    Asked<protocol::Duration> drill_time;
    Asked<std::int64_t> rounds{20};
    Asked<std::string> faults;
    Asked<protocol::Duration> every{protocol::seconds(10)};
    Asked<std::string> out;
    Asked<std::string> ca;
    Asked<std::int64_t> days;
    Asked<bool> overwrite;
    Asked<bool> force;

    Asked<LogLevel> log_level{LogOptions().level};
    Asked<LogFormat> log_format{LogOptions().format};

    LogOptions log() const { return {log_level.value, log_format.value}; }
};

/// Each value is judged for itself, by its row; what can't be used is reported. `owner`: the
/// subcommand whose rows count, or `library`.
Request read_request(std::string_view owner, const RawValues& values, Report& report);

// ---- The checks. What they return counts only if no problem was added.

/// How the work of a leader is ended before its lease is.
struct EndOfWork {
    /// Of a command that may have to be killed: its lease has room for that.
    std::optional<Asked<protocol::Duration>> kill_after;
    /// Of a task in this process, which is asked to stop so long before.
    std::optional<Asked<protocol::Duration>> stop_margin;
    /// The name of `kill_after` where no flag sets it.
    const char* fixed_end = nullptr;
};

/// The options of a node but for how its connections are secured, which the room above finds out
/// (security/checked_security.hpp, which has all of them), and what depends on that.
NodeOptions checked_before_security(const Request& request, const EndOfWork& end_of_work,
                                    Report& report);
/// The rest, when `options.security` is there.
void check_after_security(const Request& request, const Environment& environment,
                          const EndOfWork& end_of_work, NodeOptions& options, Report& report);

/// The timing of a node with these members; what it has to say at its start goes into `notes`.
protocol::Timing checked_timing(const Request& request, std::size_t members,
                                const EndOfWork& end_of_work, std::vector<std::string>& notes,
                                Report& report);

/// Reads the token file, to see that it can be read.
HttpOptions checked_http(const Request& request, Report& report);

/// Finds the group by its name or number.
AttachOptions checked_attach(const Request& request, Report& report);

/// The first directory of systemd's list, else where the desktop's rules put a program's state.
std::string checked_data_dir(const Request& request, const Environment& environment,
                             protocol::NodeId self, Report& report);

}  // namespace bullring
