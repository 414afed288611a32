#include "src/options/flags.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "src/options/nearest.hpp"

namespace bullring {

namespace {

constexpr unsigned in(Subcommand subcommand) { return static_cast<unsigned>(subcommand); }

constexpr unsigned node = in(Subcommand::node);
constexpr unsigned status = in(Subcommand::status);
constexpr unsigned watch = in(Subcommand::watch);
constexpr unsigned resign = in(Subcommand::resign);
constexpr unsigned run = in(Subcommand::run);
constexpr unsigned lead = in(Subcommand::lead);
constexpr unsigned audit = in(Subcommand::audit);
constexpr unsigned address = in(Subcommand::address);
constexpr unsigned drill = in(Subcommand::drill);
constexpr unsigned key = in(Subcommand::key);
constexpr unsigned cert = in(Subcommand::cert);
constexpr unsigned doctor = in(Subcommand::doctor);
constexpr unsigned starters = node | run | address;
constexpr unsigned members = starters | doctor;
constexpr unsigned observers = status | watch | resign | drill;
constexpr unsigned of_cluster = members | lead | observers;
constexpr unsigned all = of_cluster | audit | key | cert;

constexpr std::array<SubcommandText, 12> subcommands{{
    {Subcommand::node, "node", "Take part in the elections of a cluster"},
    {Subcommand::run, "run", "Take part, and run a command only while this node leads", true},
    {Subcommand::address, "address", "Take part, and hold IP addresses only while this node leads",
     false, "[ADDRESS/PREFIX…"},
    {Subcommand::lead, "lead", "Run a command if the node on this machine leads now", true},
    {Subcommand::doctor, "doctor", "Say what is in the way of a node's start, and start nothing"},
    {Subcommand::status, "status", "Ask every member and print what it knows"},
    {Subcommand::watch, "watch", "Print a line for each change of leader"},
    {Subcommand::resign, "resign", "Make the leader hand over"},
    {Subcommand::drill, "drill", "Let faults happen to the leader, and measure what follows"},
    {Subcommand::audit, "audit", "Read event streams and judge whether leaderships overlapped",
     false, "EVENTS [EVENTS…"},
    {Subcommand::key, "key", "Make and change the keys that secure a cluster", false,
     "ACTION [ID] [FILE"},
    {Subcommand::cert, "cert", "Make the certificates that secure a cluster", false,
     "ACTION [ID…] [FILE…"},
}};

constexpr std::array actions{
    Action{Subcommand::key, "new", "", "print a new key, or write it to the file of --out"},
    Action{Subcommand::key, "list", "FILE", "print the IDs of the file's keys"},
    Action{Subcommand::key, "add", "FILE", "append a new key: it is accepted"},
    Action{Subcommand::key, "use", "ID FILE", "move a key to the top: it is dialled with"},
    Action{Subcommand::key, "remove", "ID FILE", "take a key out"},
    Action{Subcommand::cert, "ca", "", "make a CA: ca.pem and ca.key"},
    Action{Subcommand::cert, "node", "ID…", "make node-ID.pem and node-ID.key of a member"},
    Action{Subcommand::cert, "admin", "", "make admin.pem and admin.key of administrators"},
    Action{Subcommand::cert, "observer", "", "make observer.pem and observer.key"},
    Action{Subcommand::cert, "show", "FILE…", "print whom certificates are for, and until when"},
    Action{Subcommand::cert, "revoke", "FILE…", "add certificates to the list crl.pem of the CA"},
    Action{Subcommand::cert, "crl", "", "make that list anew"},
};

constexpr std::array flags{
    Flag{"id", "N|hostname",
         "this node's ID, 1 … 2^63−1; must be in the peer list;\n"
         "hostname: the number at the end of the host name, plus\n"
         "one",
         "required", members},
    Flag{"id", "N|hostname", "which node on this machine, if not given by --data-dir", "none",
         lead},
    Flag{"id", "N|hostname", "with --local: which node, if not given by --data-dir", "none",
         resign},
    Flag{"peers", "LIST",
         "every member, this one included: ID=HOST:PORT,… or\n"
         "@FILE with one entry a line; HOST is a name, an IPv4\n"
         "address or [IPv6]",
         "required", members},
    Flag{"peers", "LIST",
         "the members: ID=HOST:PORT,… or @FILE with one entry a\n"
         "line",
         "required", observers},
    Flag{"cluster", "NAME",
         "the cluster's name; nodes of different clusters never\n"
         "talk to each other",
         "bullring", of_cluster},
    Flag{"algorithm", "bully|ring", "how a leader is elected; the same on all members", "bully",
         members},
    Flag{"listen", "HOST:PORT",
         "the address to listen on, if it is not the one that\n"
         "peers dial",
         "this node's entry in the peer list", members},
    Flag{"advertise", "STRING",
         "up to 256 bytes that are told to all who learn that this\n"
         "node leads",
         "empty", members},
    Flag{"priority", "N",
         "−1000 … 1000; the highest (priority, ID) wins; a voter\n"
         "with `never` never leads",
         "0", members},
    Flag{"preempt", nullptr, "take over from a working leader of lower rank",
         "on with bully, off with ring; off in run and address", members},
    Flag{"no-preempt", nullptr, "never take over from a working leader", nullptr, members,
         "preempt"},
    Flag{"preempt-delay", "D",
         "how long a better node must have been up and connected\n"
         "to a majority before it takes over",
         "10s", members},
    Flag{"quorum", "majority|none",
         "none: the textbook's algorithm, which elects a leader on\n"
         "each side of a partition",
         "majority", members},
    Flag{"profile", "realtime|fast|lan|cloud|wan", "the timing parameters, see below", "lan",
         members},
    Flag{"heartbeat", "D", "the time from one heartbeat to the next", "the profile's", members},
    Flag{"suspect-after", "D",
         "how long a peer may be silent before it is suspected; at\n"
         "least three of its own heartbeats",
         "the profile's", members},
    Flag{"lease", "D", "how long a leadership lasts without being renewed", "the profile's",
         members},
    Flag{"lease-max", "D", "the longest lease that this node grants to another", "10s", members},
    Flag{"realtime", "on|off|auto",
         "use SCHED_FIFO and locked memory; auto: try to, with\n"
         "--profile realtime",
         "auto", members},
    Flag{"bootstrap-wait", "D",
         "how long a node without a state file waits to hear from\n"
         "the others",
         "10s", members},
    Flag{"first-epoch", "clock|0",
         "where a new cluster's epochs begin: above the wall\n"
         "clock; or at 1, which needs all members present at the\n"
         "first start",
         "clock", members},
    Flag{"fast-release", "fin|notice|off",
         "what releases the lease of a dead leader at once: the\n"
         "end of its TCP sessions (not in run and address), or\n"
         "the word of a second process of the node, which with\n"
         "security nobody can forge; off by itself where hooks\n"
         "are set",
         "notice with --security key or tls, else fin", members},
    Flag{"hang-after", "D|off",
         "kill this node when it leads and its event loop stands\n"
         "still for so long, so that another one takes over",
         "the profile's longest pause", members},
    Flag{"allow-drill", nullptr,
         "who may command this node (with --security none anybody\n"
         "who reaches it) may let faults happen to it while it\n"
         "leads; see bullring-drill(1)",
         "off", members},
    Flag{"data-dir", "DIR", "the directory of the durable state",
         "$STATE_DIRECTORY, else\n"
         "${XDG_STATE_HOME:-$HOME/.local/state}/bullring/\n"
         "CLUSTER/node-ID",
         members | lead},
    Flag{"data-dir", "DIR", "with --local: the directory of the node's state", "as of the node",
         resign},
    Flag{"events", "FILE|-",
         "write a JSON line for each event; - is stdout. The lines\n"
         "for a FIFO without a reader are lost",
         "off", members},
    Flag{"http", "HOST:PORT|unix:PATH",
         "serve HTTP there: /leader, /metrics, a page, …; see\n"
         "bullring-http(7)",
         "off", members},
    Flag{"http-public", nullptr,
         "HTTP may listen on other addresses than loopback; then\n"
         "nothing can be changed by it",
         "off", members},
    Flag{"http-token-file", "FILE",
         "the tokens, a line each, of those who may have the\n"
         "leader hand over by HTTP",
         "none", members},
    Flag{"security", "tls|key|none",
         "how connections are secured; the same on all members;\n"
         "see bullring-security(7)",
         "none if all members are on\nloopback", members | observers},
    Flag{"key-file", "FILE",
         "with --security key: the cluster's keys, a line each;\n"
         "bullring key new makes one",
         "none", members | observers},
    Flag{"observer-key-file", "FILE", "with --security key: the keys of those who may only ask",
         "none", members | observers},
    Flag{"tls-cert", "FILE",
         "with --security tls: this end's certificate, for the URI\n"
         "bullring://CLUSTER/node/ID, …/admin or …/observer",
         "none", members | observers},
    Flag{"tls-key", "FILE", "with --security tls: the certificate's private key", "none",
         members | observers},
    Flag{"tls-ca", "FILE",
         "with --security tls: the only CA whose certificates are\n"
         "accepted",
         "none", members | observers},
    Flag{"tls-crl", "FILE", "with --security tls: what that CA has revoked", "none",
         members | observers},
    Flag{"security-migrate", nullptr,
         "take and dial members without security as well, while\n"
         "a cluster changes to tls or key",
         "off", members},
    Flag{"check", nullptr,
         "only say what is in the way of a start, as bullring\n"
         "doctor does",
         "off", starters},
    Flag{"strict", nullptr, "also fail for a warning", "off", doctor},
    Flag{"strict", nullptr, "also fail where the streams prove nothing", "off", audit},
    Flag{"json", nullptr, "print JSON instead of lines", "off", doctor},
    Flag{"trace", "FILE", "write a JSON line for each message sent or received", "off", members},
    Flag{"on-elected", "CMD", "a shell command to run when this node becomes leader", "none",
         members},
    Flag{"on-deposed", "CMD",
         "a shell command to run when this node stops being the\n"
         "leader",
         "none", members},
    Flag{"on-change", "CMD",
         "a shell command to run when another leader, or none, is\n"
         "known",
         "none", members},
    Flag{"health-cmd", "CMD",
         "a shell command; while it fails, this node neither\n"
         "stands nor leads",
         "none", members},
    Flag{"health-interval", "D", "the time from the end of a health check to the next one", "5s",
         members},
    Flag{"health-timeout", "D", "how long a health check may take; then it has failed", "2s",
         members},
    Flag{"health-failures", "N",
         "how many health checks in a row must fail before this\n"
         "node is unhealthy",
         "3", members},
    Flag{"kill-after", "D",
         "how long the command may take to end after SIGTERM; then\n"
         "it is killed",
         "2s", run},
    Flag{"kill-after", "D",
         "how long the command may take to end after SIGTERM; then\n"
         "it is killed. At most half the node's lease if the node\n"
         "hangs or has lost its majority",
         "2s", lead},
    Flag{"on-exit", "stay|vote|leave",
         "what this node does when the command ends by itself:\n"
         "stand again later, only vote from then on, or leave the\n"
         "cluster",
         "stay", run},
    Flag{"restart-delay", "D",
         "how long this node waits before it stands again; doubles\n"
         "up to 1m while the command keeps ending within 10s",
         "1s", run},
    Flag{"max-restarts", "N",
         "how many times in a row the command is restarted after\n"
         "ending within 10s; then this node only votes",
         "unlimited", run},
    Flag{"stall-after", "D",
         "how long the command may go without progress before it\n"
         "is treated as stalled; it shows progress by\n"
         "BULLRING_PROGRESS_FILE or BULLRING_PROGRESS_FD",
         "off", run},
    Flag{"address", "LIST",
         "the addresses, each with its prefix length, as\n"
         "10.0.0.9/24 or 2001:db8::9/64; or without the flag",
         "required", address},
    Flag{"dev", "NAME", "the network interface that they are put on", "required", address},
    Flag{"wait", "D", "how long to wait until the local node leads", "0s", lead},
    Flag{"json", nullptr, "print JSON instead of a table", "off", status},
    Flag{"text", nullptr, "print lines for people instead of JSON", "off", watch},
    Flag{"clock-error", "D", "how far the wall clocks of two hosts are apart at most", "10ms",
         audit},
    Flag{"json", nullptr, "print JSON instead of sentences", "off", audit},
    Flag{"wait", nullptr, "wait until a majority agrees on a live leader", "off", status},
    Flag{"timeout", "D", "how long to wait for the answers", "1s", status},
    Flag{"local", nullptr,
         "ask the node on this machine, by its data directory, and\n"
         "no other: then neither --peers nor credentials are needed",
         "off", resign},
    Flag{"to", "ID", "hand over to this member", "the best one", resign},
    Flag{"timeout", "D", "how long to wait for the new leader", "5s", resign},
    Flag{"for", "D", "begin rounds for so long, in place of --rounds", "none", drill},
    Flag{"rounds", "N", "how many rounds, 1 … 100000", "20", drill},
    Flag{"faults", "LIST",
         "what happens to the leader, one fault a round, in turn:\n"
         "crash, hang, resign, cut",
         "crash,hang,resign,cut", drill},
    Flag{"every", "D", "the time from the begin of a round to that of the next", "10s", drill},
    Flag{"json", nullptr, "print JSON instead of a table", "off", drill},
    Flag{"out", "FILE", "write the new key there, for its owner alone", "stdout", key},
    Flag{"cluster", "NAME", "the cluster that the certificates are for",
         "that of the CA; for a new CA bullring", cert},
    Flag{"ca", "DIR", "the directory of ca.pem and ca.key", "the current one", cert},
    Flag{"out", "DIR",
         "where the files are written; made if it is missing, but\n"
         "not what is above it",
         "the current directory", cert},
    Flag{"days", "N", "how long what is made is valid; no longer than the CA",
         "3650 for a CA, 365 for a certificate, as long as the CA\n"
         "for a list",
         cert},
    Flag{"overwrite", nullptr, "let node, admin and observer replace their files", "off", cert},
    Flag{"config", "FILE", "a TOML file with the flags' names as keys", "none", all},
    Flag{"log-level", "LEVEL",
         "the least level to log: trace, debug, info, warn or\n"
         "error",
         "info", all},
    Flag{"log-format", "text|json", "the format of the log on stderr", "text", all},
};

}  // namespace

std::span<const SubcommandText> subcommand_table() { return subcommands; }

std::span<const Flag> flag_table() { return flags; }

std::span<const Action> action_table() { return actions; }

const SubcommandText& text_of(Subcommand subcommand) {
    return *std::find_if(subcommands.begin(), subcommands.end(),
                         [&](const SubcommandText& row) { return row.subcommand == subcommand; });
}

const Flag* find_flag(Subcommand subcommand, std::string_view flag_name) {
    const auto* found = std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) {
        return flag.name == flag_name && flag.belongs_to(subcommand);
    });
    return found == flags.end() ? nullptr : found;
}

bool is_flag(std::string_view flag_name) {
    return std::any_of(flags.begin(), flags.end(),
                       [&](const Flag& flag) { return flag.name == flag_name; });
}

std::string environment_name(std::string_view flag_name) {
    std::string result = "BULLRING_";
    for (const char c : flag_name) {
        const bool lower = c >= 'a' && c <= 'z';
        result += c == '-' ? '_' : lower ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return result;
}

std::string owners_of(std::string_view flag_name) {
    std::vector<std::string_view> owners;
    for (const SubcommandText& row : subcommands)
        if (find_flag(row.subcommand, flag_name) != nullptr) owners.emplace_back(row.name);
    std::string text;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        if (i > 0) text += i + 1 == owners.size() ? " and " : ", ";
        text += owners[i];
    }
    return text;
}

std::optional<Subcommand> subcommand_named(std::string_view name) {
    for (const SubcommandText& row : subcommands)
        if (row.name == name) return row.subcommand;
    return std::nullopt;
}

std::string_view nearest_flag(std::string_view wrong_name, unsigned of_subcommands) {
    std::vector<std::string_view> names;
    for (const Flag& flag : flags)
        if ((flag.subcommands & of_subcommands) != 0) names.emplace_back(flag.name);
    return nearest(wrong_name, names);
}

}  // namespace bullring
