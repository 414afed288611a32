// The checks before the first start of a node, a function for each. None changes anything that a
// running node could notice. The options have been read and found sound before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/membership.hpp"
#include "src/cli/doctor/doctor_options.hpp"
#include "src/cli/doctor/findings.hpp"
#include "src/cli/doctor/surroundings.hpp"
#include "src/observe/join_plan.hpp"

namespace bullring::doctor {

/// How findings about a member begin.
std::string subject_of(protocol::NodeId id, const Endpoint& endpoint);

/// In which a file of this name would be made.
std::string directory_of(const std::string& path);

/// Whether the members' names mean what they should mean on this machine, and whether this node's
/// own entry is on one of its interfaces.
void check_addresses(const NodeOptions& options, const Surroundings& around, Findings& findings);

/// Whether this node could listen where it has to, HTTP among that. `runs`: it does already.
void check_ports(const DoctorOptions& subject, const NodeOptions& options,
                 const Surroundings& around, bool runs, Findings& findings);

/// Whether the other members are reached, and belong to this one.
void check_members(const NodeOptions& options, const KnownCluster& known,
                   const Surroundings& around, bool runs, Findings& findings);

/// The same of a node that joins: those whom it would ask, what it would ask them for, and what is
/// in its way. Nobody is asked for it.
void check_joining(const NodeOptions& options, const KnownCluster& known,
                   const Surroundings& around, bool runs, Findings& findings);

/// The reasons why this node and a member that has answered would refuse each other.
void tell_differences(const std::string& subject, const NodeOptions& options,
                      const KnownCluster& known, const NodeAnswer& answer, bool runs,
                      Findings& findings);

struct DirectorySight {
    bool runs = false;   // a node, on it, now
    KnownCluster known;  // by its state file
};
/// The data directory: whether it can be used, whose state is in it, how long fsync() takes there.
DirectorySight check_directory(const NodeOptions& options, Findings& findings);

/// The list in the state file, which holds whatever --peers has: the members of `options` become
/// those that a start would find.
void check_list(const protocol::Membership& list, NodeOptions& options, Findings& findings);

/// How many processes this process's own control group may have: of version 2, or of the
/// controller of version 1. None: no limit, or none that is seen.
std::optional<std::uint64_t> limit_of_group();

/// Descriptors and processes. `of_group`: how many the control group may have.
void check_limits(const NodeOptions& options, const std::optional<std::uint64_t>& of_group,
                  Findings& findings);

/// The rate of this machine's clock, and whether its wall clock is kept.
void check_clock(Findings& findings);

/// Checks the settings that need a permission: SCHED_FIFO, locked memory. Changes the scheduling of
/// the calling process, which should end soon.
void check_realtime(const NodeOptions& options, Findings& findings);

/// Checks the needs of `run` and `address` beside a node; and the commands of hooks and health
/// checks.
void check_work(const DoctorOptions& options, Findings& findings);

/// Whether its program is there.
void check_command(const Command& command, Findings& findings);

/// Attached processes: whether the group of --attach-group could reach the node's socket, and of a
/// node that runs, whether it answers there.
void check_attach(const DoctorOptions& subject, const NodeOptions& options, bool runs,
                  protocol::Duration patience, Findings& findings);

/// The needs of `lead`: its command, and the node on this machine.
void check_lead(const LeadSubject& options, protocol::Duration patience, Findings& findings);

/// When the certificate expires, and which lists of revocations are there.
void check_certificate(const NodeOptions& options, Findings& findings);

}  // namespace bullring::doctor
