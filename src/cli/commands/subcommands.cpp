// The one table of subcommands. Each has its body in a file of its name, beside this one.
#include <algorithm>
#include <array>

#include "src/cli/commands/command_options.hpp"
#include "src/cli/options/subcommand.hpp"

namespace bullring {

Work node_command(const Given& given);
Work run_command(const Given& given);
Work address_command(const Given& given);
Work lead_command(const Given& given);
Work doctor_command(const Given& given);
Work status_command(const Given& given);
Work watch_command(const Given& given);
Work resign_command(const Given& given);
Work member_command(const Given& given);
Work drill_command(const Given& given);
Work audit_command(const Given& given);
Work key_command(const Given& given);
Work cert_command(const Given& given);

namespace {

constexpr std::array actions_of_member{
    Action{name(MemberAction::list), "", "print the list of members"},
    Action{name(MemberAction::add), "ID=HOST:PORT", "add a member, without a vote"},
    Action{name(MemberAction::remove), "ID", "remove a member; a leader hands over first"},
    Action{name(MemberAction::promote), "ID", "give a member a vote"},
    Action{name(MemberAction::demote), "ID", "take a member's vote away"},
    Action{name(MemberAction::address), "ID=HOST:PORT", "change where a member is dialled"},
    Action{name(MemberAction::refound), "ID",
           "when a majority is lost for ever: make this one, which is stopped, the only member"},
};

constexpr std::array actions_of_key{
    Action{name(KeyAction::make), "", "print a new key, or write it to the file of --out"},
    Action{name(KeyAction::list), "FILE", "print the IDs of the file's keys"},
    Action{name(KeyAction::add), "FILE", "append a new key: it is accepted"},
    Action{name(KeyAction::use), "ID FILE", "move a key to the top: it is dialled with"},
    Action{name(KeyAction::remove), "ID FILE", "take a key out"},
};

constexpr std::array actions_of_cert{
    Action{name(CertAction::ca), "", "make a CA: ca.pem and ca.key"},
    Action{name(CertAction::node), "ID…", "make node-ID.pem and node-ID.key of a member"},
    Action{name(CertAction::admin), "", "make admin.pem and admin.key of administrators"},
    Action{name(CertAction::observer), "", "make observer.pem and observer.key"},
    Action{name(CertAction::show), "FILE…", "print whom certificates are for, and until when"},
    Action{name(CertAction::revoke), "FILE…", "add certificates to the list crl.pem of the CA"},
    Action{name(CertAction::crl), "", "make that list anew"},
};

constexpr std::array subcommands{
    Subcommand{"node", "Take part in the elections of a cluster", node_command},
    Subcommand{"run", "Take part, and run a command only while this node leads", run_command, true},
    Subcommand{"address", "Take part, and hold IP addresses only while this node leads",
               address_command, false, "[ADDRESS/PREFIX…"},
    Subcommand{"lead", "Run a command if the node on this machine leads now", lead_command, true},
    Subcommand{"doctor", "Say what is in the way of a node's start, and start nothing",
               doctor_command},
    Subcommand{"status", "Ask every member and print what it knows", status_command},
    Subcommand{"watch", "Print a line for each change of leader", watch_command},
    Subcommand{"resign", "Make the leader hand over", resign_command},
    Subcommand{"member", "Print and change the list of members", member_command, false,
               "ACTION [ID[=HOST:PORT]", actions_of_member},
    Subcommand{"drill", "Let faults happen to the leader, and measure what follows", drill_command},
    Subcommand{"audit", "Read event streams and judge whether leaderships overlapped",
               audit_command, false, "EVENTS [EVENTS…"},
    Subcommand{"key", "Make and change the keys that secure a cluster", key_command, false,
               "ACTION [ID] [FILE", actions_of_key},
    Subcommand{"cert", "Make the certificates that secure a cluster", cert_command, false,
               "ACTION [ID…] [FILE…", actions_of_cert},
};

}  // namespace

std::span<const Subcommand> subcommand_table() { return subcommands; }

const Subcommand* find_subcommand(std::string_view name) {
    const auto* const found = std::find_if(subcommands.begin(), subcommands.end(),
                                           [&](const Subcommand& one) { return one.name == name; });
    return found == subcommands.end() ? nullptr : found;
}

}  // namespace bullring
