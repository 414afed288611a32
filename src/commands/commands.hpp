// The subcommands' bodies, one file each. Each returns the exit status: 0 done or stopped cleanly
// by SIGINT/SIGTERM, 1 it failed while running, with one line on stderr that says why. An exception
// that they throw is reported by main as such a failure. Their options have been checked already.
#pragma once

#include "src/options/node_options.hpp"
#include "src/options/options.hpp"

namespace bullring {

/// The status of whatever ends because of its command line.
inline constexpr int wrong_usage = 2;

int run_node(const NodeOptions& options);
/// `run` and `address`.
int run_run(const RunOptions& options);
int run_doctor(const DoctorOptions& options);
int run_lead(const LeadOptions& options);
int run_status(const StatusOptions& options);
int run_watch(const WatchOptions& options);
int run_resign(const ResignOptions& options);
int run_drill(const DrillOptions& options);
int run_audit(const AuditOptions& options);
int run_key(const KeyOptions& options);
int run_cert(const CertOptions& options);

}  // namespace bullring
