// Checks the members' names and addresses as this machine resolves them, and those that this node
// can take.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/os/tcp.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/cli/doctor/interfaces.hpp"

namespace bullring::doctor {

namespace {

bool all_loopback(const Addresses& addresses) {
    return std::all_of(addresses.begin(), addresses.end(),
                       [](const auto& one) { return one.address().is_loopback(); });
}

std::string hosts_of(const Addresses& addresses) {
    std::string text;
    for (const auto& one : addresses)
        text += (text.empty() ? "" : ", ") + one.address().to_string();
    return text;
}

std::string listen_anywhere(std::uint16_t port) {
    return "--listen 0.0.0.0:" + std::to_string(port);
}

/// Whether a node that listens at `listen` takes what comes for `address`.
bool takes(const Addresses& listen, const asio::ip::tcp::endpoint& address) {
    return std::any_of(listen.begin(), listen.end(), [&](const auto& one) {
        return one.port() == address.port() &&
               (one.address() == address.address() ||
                (one.address().is_unspecified() && is_on_this_machine(address.address())));
    });
}

/// Of one entry of the list. Also of an address, which resolves to itself.
class Entry {
public:
    Entry(const NodeOptions& options, const Surroundings& around, protocol::NodeId id)
        : options_(options),
          around_(around),
          id_(id),
          endpoint_(options.peers.at(id)),
          found_(around.names.at(id)),
          own_(id == options.config.self) {}

    void check(Findings& findings) const {
        const std::string subject = subject_of(id_, endpoint_);
        if (!found_ || found_->empty())
            findings.warn(subject,
                          "its name does not resolve: " +
                              (found_ ? std::string("it has no address") : found_.error()),
                          own_ && options_.listen == endpoint_
                              ? "a node waits for its own name: add it to DNS or /etc/hosts, or "
                                "give " +
                                    listen_anywhere(endpoint_.port)
                              : "add it to DNS or /etc/hosts; a node asks again until it resolves");
        else if (all_loopback(*found_) && others_are_elsewhere())
            findings.fail(
                subject, "it is loopback on this machine: " + hosts_of(*found_),
                own_ ? "take its line out of /etc/hosts, or give " + listen_anywhere(endpoint_.port)
                     : "take its line out of /etc/hosts: this node would dial itself");
        else if (own_ && options_.listen == endpoint_ && !any_is_here())
            findings.fail(
                subject,
                "no interface of this machine has this node's own address " + hosts_of(*found_),
                "check --id and the list of members; behind NAT give " +
                    listen_anywhere(endpoint_.port));
        else if (!own_ && this_node_takes_it())
            findings.fail(subject, "it is where this node listens itself: " + hosts_of(*found_),
                          "check --id and the list of members");
        else
            findings.ok(subject, (is_name() ? "is " + hosts_of(*found_) : "is an address") +
                                     std::string(own_ ? ", this node" : ""));
    }

private:
    bool is_name() const { return tcp::numeric_addresses(endpoint_).empty(); }
    bool any_is_here() const {
        return std::any_of(found_->begin(), found_->end(), [](const auto& one) {
            return one.address().is_unspecified() || is_on_this_machine(one.address());
        });
    }
    bool others_are_elsewhere() const {
        if (own_ && options_.listen != endpoint_) return false;
        return std::any_of(around_.names.begin(), around_.names.end(), [](const auto& one) {
            return one.second && !one.second->empty() && !all_loopback(*one.second);
        });
    }
    bool this_node_takes_it() const {
        return around_.listen && std::any_of(found_->begin(), found_->end(), [&](const auto& one) {
                   return takes(*around_.listen, one);
               });
    }

    const NodeOptions& options_;
    const Surroundings& around_;
    protocol::NodeId id_;
    const Endpoint& endpoint_;
    const Resolved& found_;
    bool own_;
};

/// As tcp::listen_on() judges them: a name may have an address of a family that this host lacks.
int bind_error(const Addresses& addresses) {
    int last = EADDRNOTAVAIL;
    bool any = false;
    for (const auto& address : addresses) {
        const int error = tcp::try_bind(address);
        const bool no_such_family =
            error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT;
        if (error != 0 && !no_such_family) return error;
        if (error == 0)
            any = true;
        else
            last = error;
    }
    return any ? 0 : last;
}

/// `ss` shows the process that listens there: one of another user is not ours to look at.
void tell_port(const std::string& subject, std::uint16_t port, int error, bool runs,
               Findings& findings) {
    if (error == 0)
        findings.ok(subject, "it is free");
    else if (error == EADDRINUSE && runs)
        findings.ok(subject, "this node listens there now");
    else if (error == EADDRINUSE)
        findings.fail(
            subject, "another process listens there",
            fmt::format("end it (ss -ltnp 'sport = :{}' shows it), or take another port", port));
    else if (error == EADDRNOTAVAIL)
        findings.fail(subject, "no interface of this machine has this address",
                      "check --id and the list of members");
    else
        findings.fail(
            subject, "it can't be listened to: " + std::generic_category().message(error),
            error == EACCES ? "ports below 1024 need CAP_NET_BIND_SERVICE" : "check the address");
}

void check_socket(const std::string& path, bool runs, Findings& findings) {
    const std::string subject = "http unix:" + path;
    struct ::stat there {};
    const std::string directory = directory_of(path);
    if (runs)
        findings.ok(subject, "this node listens there now");
    else if (::lstat(path.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode))
        findings.fail(subject, "what is there is no socket", "remove it, or give another path");
    else if (::access(directory.c_str(), W_OK | X_OK) != 0)
        findings.fail(subject,
                      "no socket can be made there: " + std::generic_category().message(errno),
                      "make the directory " + directory + ", writable for this node's user");
    else
        findings.ok(subject, "it can be made");
}

}  // namespace

std::string subject_of(protocol::NodeId id, const Endpoint& endpoint) {
    return fmt::format("member {} at {}", id.value, to_text(endpoint));
}

std::string directory_of(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    return parent.empty() ? "." : parent.string();
}

void check_addresses(const NodeOptions& options, const Surroundings& around, Findings& findings) {
    for (const auto& [id, endpoint] : options.peers) Entry(options, around, id).check(findings);
}

void check_ports(const DoctorOptions& subject, const NodeOptions& options,
                 const Surroundings& around, bool runs, Findings& findings) {
    const std::string listen = "listen " + to_text(options.listen);
    const bool is_entry = options.listen == options.peers.at(options.config.self);
    if (around.listen)
        tell_port(listen, options.listen.port, bind_error(*around.listen), runs, findings);
    else if (!is_entry)  // its entry has been reported
        findings.warn(listen, "its name does not resolve: " + around.listen.error(),
                      "a node waits for it: add it to DNS or /etc/hosts, or give " +
                          listen_anywhere(options.listen.port));

    if (const std::string& path = options.http.socket; !path.empty()) {
        if (subject.is_made(path)) return findings.ok("http unix:" + path, made_by_manager);
        return check_socket(path, runs, findings);
    }
    if (options.http.address.port == 0) return;
    const std::string http = "http " + to_text(options.http.address);
    if (!around.http)
        return findings.fail(http, "its name does not resolve: " + around.http.error(),
                             "add it to DNS or /etc/hosts, or give an address");
    if (around.listen && std::any_of(around.http->begin(), around.http->end(),
                                     [&](const auto& one) { return takes(*around.listen, one); }))
        return findings.fail(http, "the node itself listens there for the members",
                             "take another port");
    tell_port(http, options.http.address.port, bind_error(*around.http), runs, findings);
}

}  // namespace bullring::doctor
