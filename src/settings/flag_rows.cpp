// The rows of the table of settings (flags.hpp), and the reading of values by them.
#include <array>
#include <string>
#include <utility>

#include "protocol/values/algorithms.hpp"
#include "protocol/values/messages.hpp"
#include "src/settings/flags.hpp"
#include "src/settings/reading.hpp"
#include "src/settings/request.hpp"

namespace bullring {

namespace {

constexpr std::string_view starters = "node run address";
constexpr std::string_view members = "node run address doctor";
constexpr std::string_view observers = "status watch resign member drill";

constexpr Range positive{1};
constexpr Range at_least_1ms_or_off{protocol::milliseconds(1).ns, Range().high, true};

constexpr Range from(std::int64_t low, std::int64_t high) { return {low, high}; }

template <class... Words>
constexpr Owners by(Words... owners) {
    return {owners...};
}

constexpr std::array rows{
    Flag{"id", "N|hostname",
         "this node's ID, 1 … 2^63−1; must be in the peer list; hostname: the number at the end of "
         "the host name, plus one",
         by(members, library), into<&Request::id, own_id>, "required"},
    Flag{"id", "N|hostname", "which node on this machine, if not given by --data-dir", by("lead"),
         into<&Request::id, own_id>, "none"},
    Flag{"id", "N|hostname", "with --local: which node, if not given by --data-dir",
         by("resign", "member"), into<&Request::id, own_id>, "none"},
    Flag{"peers", "LIST",
         "every member, this one included: ID=HOST:PORT,… or @FILE with one entry a line; HOST is "
         "a name, an IPv4 address or [IPv6]",
         by(members, library), into<&Request::peers>, "required, or --join"},
    Flag{"peers", "LIST", "the members: ID=HOST:PORT,… or @FILE with one entry a line",
         by(observers), into<&Request::peers>, "required"},
    Flag{"cluster", "NAME",
         "the cluster's name; nodes of different clusters never talk to each other",
         by(members, "lead", observers, library), into<&Request::cluster, cluster_name>},
    Flag{"algorithm", protocol::algorithm_choice.data(),
         "how a leader is elected; the same on all members", by(members, library),
         into<&Request::algorithm>},
    Flag{"listen", "HOST:PORT", "the address to listen on, if it is not the one that peers dial",
         by(members, library), into<&Request::listen>,
         "this node's entry in the peer list, or --join-as"},
    Flag{"join", "HOST:PORT,…",
         "in place of --peers: ask these members of a cluster to be added to it, without a vote; "
         "never found one",
         by(members, library), into<&Request::join>, "none"},
    Flag{"join-as", "HOST:PORT", "with --join: where the others dial this node",
         by(members, library), into<&Request::join_as>, "where it listens, as the others see it"},
    Flag{"voter", nullptr, "with --join: ask for a vote, too", by(members, library),
         into<&Request::voter>},
    Flag{"forget-after", "D",
         "a member without a vote that its leader has not heard for so long is removed; 0: never",
         by(members, library), into<&Request::forget_after, time_or_0>},
    Flag{"advertise", "STRING", "up to 256 bytes that reach all who learn that this node leads",
         by(members, library), into<&Request::advertise>, "empty"},
    Flag{"priority", "N",
         "−1000 … 1000; the highest (priority, ID) wins; a voter with `never` never leads",
         by(members, library), into<&Request::priority>, nullptr, from(-1000, 1000)},
    Flag{"preempt", nullptr, "take over from a working leader of lower rank", by(members, library),
         into<&Request::preempt>, "on with bully, off with ring; off in run and address"},
    Flag{"no-preempt", nullptr, "never take over from a working leader", by(members, library),
         Place(), nullptr, Range(), "preempt"},
    Flag{
        "preempt-delay", "D",
        "how long a better node must have been up and connected to a majority before it takes over",
        by(members, library), into<&Request::preempt_delay>},
    Flag{"quorum", "majority|none",
         "none: the textbook's algorithm, which elects a leader on each side of a partition",
         by(members, library), into<&Request::quorum>},
    Flag{"profile", "realtime|fast|lan|cloud|wan", "the timing parameters, see below",
         by(members, library), into<&Request::profile>},
    Flag{"heartbeat", "D", "the time from one heartbeat to the next", by(members, library),
         into<&Request::heartbeat>, "the profile's", positive},
    Flag{"suspect-after", "D",
         "how long a peer may be silent before it is suspected; at least three of its own "
         "heartbeats",
         by(members, library), into<&Request::suspect_after>, "the profile's", positive},
    Flag{"lease", "D", "how long a leadership lasts without being renewed", by(members, library),
         into<&Request::lease>, "the profile's", positive},
    Flag{"lease-max", "D", "the longest lease that this node grants to another",
         by(members, library), into<&Request::lease_max>, nullptr, positive},
    Flag{"realtime", "on|off|auto",
         "use SCHED_FIFO and locked memory; auto: try to, with --profile realtime",
         by(members, library), into<&Request::realtime>},
    Flag{"bootstrap-wait", "D",
         "how long a node without a state file waits to hear from the others", by(members, library),
         into<&Request::bootstrap_wait>},
    Flag{"first-epoch", "clock|0",
         "where a new cluster's epochs begin: above the wall clock; or at 1, which needs all "
         "members present at the first start",
         by(members, library), into<&Request::first_epoch>},
    Flag{"fast-release", "fin|notice|off",
         "what releases the lease of a dead leader at once: the end of its TCP sessions (not in "
         "run and address), or the word of a second process of the node, which with security "
         "nobody can forge; off by itself where hooks are set",
         by(members, library), into<&Request::fast_release>,
         "notice with --security key or tls, else fin"},
    Flag{"hang-after", "D|off",
         "kill this node when it leads and its event loop stands still for so long, so that "
         "another one takes over",
         by(members, library), into<&Request::hang_after>, "the profile's longest pause",
         at_least_1ms_or_off},
    Flag{"wire", "N",
         "speak at most this version of the wire format, 1 … 6; see bullring-upgrade(7)",
         by(members, library), into<&Request::wire>, nullptr,
         from(protocol::version_lowest, protocol::version_highest)},
    Flag{"allow-drill", nullptr,
         "who may command this node (with --security none anybody who reaches it) may let faults "
         "happen to it while it leads; see bullring-drill(1)",
         by(members, library), into<&Request::allow_drill>},
    Flag{"data-dir", "DIR", "the directory of the durable state", by(members, "lead", library),
         into<&Request::data_dir>,
         "$STATE_DIRECTORY, else ${XDG_STATE_HOME:-$HOME/.local/state}/bullring/CLUSTER/node-ID"},
    Flag{"data-dir", "DIR", "with --local: the directory of the node's state", by("resign"),
         into<&Request::data_dir>, "as of the node"},
    Flag{"data-dir", "DIR", "with --local, and of refound: the directory of the node's state",
         by("member"), into<&Request::data_dir>, "as of the node"},
    Flag{"events", "FILE|-",
         "write a JSON line for each event; - is stdout. The lines for a FIFO without a reader are "
         "lost",
         by(members, library), into<&Request::events>, "off"},
    Flag{"attach", "on|off",
         "let processes on this machine hold the leadership through this node, by attach.sock in "
         "its data directory; see bullring-attach(7)",
         by(members), into<&Request::attach>},
    Flag{"attach-group", "GROUP", "members of this group may attach, too, not the owner alone",
         by(members), into<&Request::attach_group, one_word>, "none"},
    Flag{"http", "HOST:PORT|unix:PATH",
         "serve HTTP there: /leader, /metrics, a page, …; see bullring-http(7)",
         by(members, library), into<&Request::http, one_word>, "off"},
    Flag{"http-public", nullptr,
         "HTTP may listen on other addresses than loopback; then nothing can be changed by it",
         by(members, library), into<&Request::http_public>},
    Flag{"http-token-file", "FILE",
         "the tokens, a line each, of those who may have the leader hand over by HTTP",
         by(members, library), into<&Request::http_token_file>},
    Flag{"security", "tls|key|none",
         "how connections are secured; the same on all members; see bullring-security(7)",
         by(members, observers, library), into<&Request::security>,
         "none if all members are on loopback"},
    Flag{"key-file", "FILE",
         "with --security key: the cluster's keys, a line each; bullring key new makes one",
         by(members, observers, library), into<&Request::key_file>},
    Flag{"observer-key-file", "FILE", "with --security key: the keys of those who may only ask",
         by(members, observers, library), into<&Request::observer_key_file>},
    Flag{"tls-cert", "FILE",
         "with --security tls: this end's certificate, for the URI bullring://CLUSTER/node/ID, "
         "…/admin or …/observer",
         by(members, observers, library), into<&Request::tls_cert>},
    Flag{"tls-key", "FILE", "with --security tls: the certificate's private key",
         by(members, observers, library), into<&Request::tls_key>},
    Flag{"tls-ca", "FILE", "with --security tls: the only CA whose certificates are accepted",
         by(members, observers, library), into<&Request::tls_ca>},
    Flag{"tls-crl", "FILE", "with --security tls: what that CA has revoked",
         by(members, observers, library), into<&Request::tls_crl>},
    Flag{"security-migrate", nullptr,
         "take and dial members without security as well, while a cluster changes to tls or key",
         by(members, library), into<&Request::security_migrate>},
    Flag{"check", nullptr, "only say what is in the way of a start, as bullring doctor does",
         by(starters, "lead"), into<&Request::check>},
    Flag{"unit", "UNIT",
         "judge what a node would meet that systemd starts by this unit: with its flags, as its "
         "user, in its sandbox; needs root",
         by("doctor"), into<&Request::unit>},
    Flag{"strict", nullptr, "also fail for a warning", by("doctor"), into<&Request::strict>},
    Flag{"strict", nullptr, "also fail where the streams prove nothing", by("audit"),
         into<&Request::strict>},
    Flag{"actions", nullptr,
         "print what was asked of the nodes and by whom, and their starts and stops, and judge "
         "nothing",
         by("audit"), into<&Request::actions>},
    Flag{"json", nullptr, "print JSON instead of lines", by("doctor"), into<&Request::json>},
    Flag{"trace", "FILE", "write a JSON line for each message sent or received",
         by(members, library), into<&Request::trace>, "off"},
    Flag{"on-elected", "CMD", "a shell command to run when this node becomes leader", by(members),
         into<&Request::on_elected>},
    Flag{"on-deposed", "CMD", "a shell command to run when this node stops being the leader",
         by(members), into<&Request::on_deposed>},
    Flag{"on-change", "CMD", "a shell command to run when another leader, or none, is known",
         by(members), into<&Request::on_change>},
    Flag{"health-cmd", "CMD", "a shell command; while it fails, this node neither stands nor leads",
         by(members), into<&Request::health_cmd>},
    Flag{"health-interval", "D", "the time from the end of a health check to the next one",
         by(members), into<&Request::health_interval>, nullptr, positive},
    Flag{"health-timeout", "D", "how long a health check may take; then it has failed", by(members),
         into<&Request::health_timeout>, nullptr, positive},
    Flag{"health-failures", "N",
         "how many health checks in a row must fail before this node is unhealthy", by(members),
         into<&Request::health_failures>, nullptr, from(1, 1000)},
    Flag{"kill-after", "D", "how long the command may take to end after SIGTERM; then it is killed",
         by("run"), into<&Request::kill_after>, nullptr, positive},
    Flag{"kill-after", "D",
         "how long the command may take to end after SIGTERM; then it is killed. At most half the "
         "node's lease if the node hangs or has lost its majority",
         by("lead"), into<&Request::kill_after>, nullptr, positive},
    Flag{"on-exit", "stay|vote|leave",
         "what this node does when the command ends by itself: stand again later, only vote from "
         "then on, or leave the cluster",
         by("run"), into<&Request::on_exit>},
    Flag{"restart-delay", "D",
         "how long this node waits before it stands again; doubles up to 1m while the command "
         "keeps ending within 10s",
         by("run"), into<&Request::restart_delay>, nullptr, from(0, restart_delay_max.ns)},
    Flag{"max-restarts", "N",
         "how many times in a row the command is restarted after ending within 10s; then this node "
         "only votes, until SIGHUP",
         by("run"), into<&Request::max_restarts>, "unlimited", from(0, 1'000'000)},
    Flag{"pass-hup", nullptr,
         "pass SIGHUP on to the command, too; most programs end by it unless they expect it",
         by("run"), into<&Request::pass_hup>},
    Flag{"stall-after", "D",
         "how long the command may go without progress before it is treated as stalled; it shows "
         "progress by BULLRING_PROGRESS_FILE or BULLRING_PROGRESS_FD",
         by("run", library), into<&Request::stall_after>, "off", positive},
    Flag{"address", "LIST",
         "the addresses, each with its prefix length, as 10.0.0.9/24 or 2001:db8::9/64; or without "
         "the flag",
         by("address"), into<&Request::address, one_word>, "required"},
    Flag{"dev", "NAME", "the network interface that they are put on", by("address"),
         into<&Request::dev>, "required"},
    Flag{"wait", "D", "how long to wait until the local node leads", by("lead"),
         into<&Request::wait_for, time_or_off>},
    Flag{"json", nullptr, "print JSON instead of a table", by("status"), into<&Request::json>},
    Flag{"text", nullptr, "print lines for people instead of JSON", by("watch"),
         into<&Request::text>},
    Flag{"clock-error", "D", "how far the wall clocks of two hosts are apart at most", by("audit"),
         into<&Request::clock_error>},
    Flag{"json", nullptr, "print JSON instead of sentences", by("audit"), into<&Request::json>},
    Flag{"wait", nullptr, "wait until a majority agrees on a live leader", by("status"),
         into<&Request::wait, switch_or_time>},
    Flag{"timeout", "D", "how long to wait for the answers", by("status"),
         into<&Request::answers_within>, nullptr, positive},
    Flag{"local", nullptr,
         "ask the node on this machine, by its data directory, and no other: then neither --peers "
         "nor credentials are needed",
         by("resign", "member"), into<&Request::local>},
    Flag{"to", "ID", "hand over to this member", by("resign"), into<&Request::to>, "the best one"},
    Flag{"timeout", "D", "how long to wait for the new leader", by("resign"),
         into<&Request::resigned_within>, nullptr, positive},
    Flag{"voter", nullptr, "promote it, too, once it can vote", by("member"),
         into<&Request::voter>},
    Flag{"others-are-lost", nullptr,
         "of refound: a majority of the voters never runs again, neither here nor elsewhere",
         by("member"), into<&Request::others_are_lost>},
    Flag{"json", nullptr, "print JSON instead of a table", by("member"), into<&Request::json>},
    Flag{"timeout", "D", "how long the change may take", by("member"),
         into<&Request::changed_within>, nullptr, positive},
    Flag{"for", "D", "begin rounds for so long, in place of --rounds", by("drill"),
         into<&Request::drill_time>, "none", positive},
    Flag{"rounds", "N", "how many rounds, 1 … 100000", by("drill"), into<&Request::rounds>, nullptr,
         from(1, 100'000)},
    Flag{"faults", "LIST",
         "what happens to the leader, one fault a round, in turn: crash, hang, resign, cut",
         by("drill"), into<&Request::faults, one_word>, "crash,hang,resign,cut"},
    Flag{"every", "D", "the time from the begin of a round to that of the next", by("drill"),
         into<&Request::every>},
    Flag{"json", nullptr, "print JSON instead of a table", by("drill"), into<&Request::json>},
    Flag{"data-dir", "DIR",
         "of remove: the directory of the node's state that is asked whether the key is needed",
         by("key"), into<&Request::data_dir>, "those of all nodes that run on this machine"},
    Flag{"id", "N|hostname", "of remove: which node is asked, by the default of its directory",
         by("key"), into<&Request::id, own_id>, "none"},
    Flag{"cluster", "NAME", "of remove: the cluster of that node", by("key"),
         into<&Request::cluster, cluster_name>},
    Flag{"force", nullptr, "of remove: also while somebody needs the key", by("key"),
         into<&Request::force>},
    Flag{"out", "FILE", "write the new key there, for its owner alone", by("key"),
         into<&Request::out>, "stdout"},
    Flag{"cluster", "NAME", "the cluster that the certificates are for", by("cert"),
         into<&Request::cluster, cluster_name>, "that of the CA; for a new CA bullring"},
    Flag{"ca", "DIR", "the directory of ca.pem and ca.key", by("cert"), into<&Request::ca>,
         "the current one"},
    Flag{"out", "DIR",
         "where the files are written; made if it is missing, but not what is above it", by("cert"),
         into<&Request::out>, "the current directory"},
    Flag{"days", "N", "how long what is made is valid; no longer than the CA", by("cert"),
         into<&Request::days>, "3650 for a CA, 365 for a certificate, as long as the CA for a list",
         from(1, 36'500)},
    Flag{"overwrite", nullptr, "let node, admin and observer replace their files", by("cert"),
         into<&Request::overwrite>},
    Flag{"config", "FILE", "a TOML file with the flags' names as keys", by(any_subcommand),
         into<&Request::config>},
    Flag{"log-level", "LEVEL", "the least level to log: trace, debug, info, warn or error",
         by(any_subcommand), into<&Request::log_level>},
    Flag{"log-format", "text|json", "the format of the log on stderr", by(any_subcommand),
         into<&Request::log_format>},

    // Settings that are no flags, because the library's host does the work of a leader itself.
    Flag{"restart-delay", "D",
         "how long this node does not stand after its task has returned by itself", by(library),
         into<&Request::restart_delay>},
    Flag{"stop-margin", "D", "how long before the lease's end the task is asked to stop",
         by(library), into<&Request::stop_margin>, "a fifth of the lease"},
    Flag{"step-down-timeout", "D",
         "how long a task that has been asked to stop is waited for while the lease is still "
         "renewed",
         by(library), into<&Request::step_down_timeout>, "2s", positive},
};

}  // namespace

std::span<const Flag> setting_table() { return rows; }

Request read_request(std::string_view owner, const RawValues& values, Report& report) {
    Request request;
    for (const Flag& row : setting_table()) {
        const auto found = values.find(row.name);
        if (row.place.read == nullptr || found == values.end() || !row.belongs_to(owner)) continue;
        std::string text = found->second.text;
        // The line end of another system, of which a file of variables leaves one half.
        if (text.ends_with('\r')) text.pop_back();
        row.place.read(request, found->second, {row.name, row.range, std::move(text), report});
    }
    return request;
}

}  // namespace bullring
