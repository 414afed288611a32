// Checks a node's work beside electing: commands, addresses, files that it writes, credentials.
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/text/rfc3339.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/security/certificate_text.hpp"
#include "src/security/credentials.hpp"
#include "src/security/revocations.hpp"
#include "src/task/address/holder.hpp"
#include "src/task/address/preparation.hpp"
#include "src/task/shell_command.hpp"
#include "src/task/supervisor/find_program.hpp"

namespace bullring::doctor {

namespace {

constexpr std::chrono::hours soon{24 * 30};

bool may_change_addresses() {
    ::__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    ::__user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, data) != 0) return false;
    return (data[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN)) != 0;
}

void check_held(const DoctorOptions& options, Findings& findings) {
    const std::string subject = "addresses on " + options.device;
    const HeldAddresses held(options.device, options.command);
    if (const auto device = check_device(held); !device)
        findings.fail(subject, device.error(), "check --dev (ip link shows the interfaces)");
    else if (!may_change_addresses())
        findings.fail(subject, "this user may not change them",
                      "run it as root, or with CAP_NET_ADMIN and CAP_NET_RAW "
                      "(AmbientCapabilities= of the unit)");
    else
        findings.ok(subject, "the interface is there, and may be changed");
}

void check_file(const DoctorOptions& options, const char* flag, const std::string& path,
                Findings& findings) {
    if (path.empty() || path == "-") return;
    const std::string subject = std::string(flag) + " " + path;
    if (options.is_made(path)) return findings.ok(subject, made_by_manager);
    const std::string directory = directory_of(path);
    struct ::stat there {};
    const bool exists = ::stat(path.c_str(), &there) == 0;
    if (exists && S_ISDIR(there.st_mode))
        findings.fail(subject, "it is a directory", "give the name of a file");
    else if (::access(exists ? path.c_str() : directory.c_str(), exists ? W_OK : W_OK | X_OK) == 0)
        findings.ok(subject, exists ? "it is there, and can be written" : "it can be made");
    else
        findings.fail(subject, "it can't be written: " + std::generic_category().message(errno),
                      "make its directory, writable for this node's user");
}

/// A start takes whichever is there: it can't know what another run had.
void check_revocations(const X509_CRL& list, Findings& findings) {
    const ASN1_TIME* const next = X509_CRL_get0_nextUpdate(&list);
    const std::string has = described(list);
    if (next == nullptr)
        findings.ok("revocations", has);
    else if (X509_cmp_current_time(next) < 0)
        findings.warn("revocations", has + ": the next one was due by " + time_text(*next),
                      "it counts all the same; make the list anew (bullring cert crl), and copy it "
                      "to all members and callers");
    else
        findings.ok("revocations", has + ": the next one is due by " + time_text(*next));
}

}  // namespace

void check_command(const Command& command, Findings& findings) {
    const auto found = find_program(command.front());
    if (found)
        findings.ok("command", *found);
    else
        findings.fail("command", found.error().text, "give a program that is there");
}

void check_work(const DoctorOptions& options, Findings& findings) {
    if (!options.device.empty()) {
        check_held(options, findings);
    } else if (!options.command.empty()) {
        check_command(options.command, findings);
    }
    const NodeOptions& node = options.node;
    if (!shell_finds(node.health.command))
        findings.fail("health-cmd", in_quotes(node.health.command) + " is not found",
                      "give a command that /bin/sh can run");
    const std::pair<const char*, const std::string&> hooks[] = {
        {"on-elected", node.hooks.on_elected},
        {"on-deposed", node.hooks.on_deposed},
        {"on-change", node.hooks.on_change}};
    for (const auto& [flag, command] : hooks)
        if (!shell_finds(command))
            findings.warn(flag, in_quotes(command) + " is not found: it will fail each time",
                          "give a command that /bin/sh can run");
    check_file(options, "events", node.events_file, findings);
    check_file(options, "trace", node.trace_file, findings);
}

void check_certificate(const NodeOptions& options, Findings& findings) {
    if (options.security.mode != SecurityMode::tls) return;
    const auto loaded =
        load_credentials(options.security, {options.config.cluster, options.config.self});
    if (!loaded) return;  // it was sound a moment ago, when the options were read
    for (const OwnedCrl& list : loaded->revocations) check_revocations(*list, findings);
    if (const std::string missing = missing_list(options.security, *loaded); !missing.empty())
        findings.warn("revocations", missing,
                      "begin with an empty list (bullring cert crl), copied to that place");
    const auto end = std::chrono::seconds(loaded->not_after);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string until = "it is valid until " + std::string(Rfc3339(end).text());
    const auto begin = std::chrono::seconds(loaded->not_before);
    if (now < begin || now >= end)
        findings.fail("certificate",
                      now < begin ? "it is not valid before " + std::string(Rfc3339(begin).text())
                                  : "it was valid until " + std::string(Rfc3339(end).text()),
                      "no other node lets it in: set the clock, or make a new one (bullring cert "
                      "node); the node takes it without a restart");
    else if (end - now < soon)
        findings.warn("certificate", until,
                      "make a new one (bullring cert node); the node takes it without a restart");
    else
        findings.ok("certificate", until);
}

}  // namespace bullring::doctor
