#include "src/security/checked_security.hpp"

#include <array>

#include "src/base/text/text.hpp"
#include "src/security/credentials.hpp"

namespace bullring {

namespace {

/// A file that users may name, and what it is for.
struct FileFlag {
    const char* flag;
    Asked<std::string> Request::*asked;
    std::string SecurityOptions::*file;
    SecurityMode mode;
    bool needed;
};
constexpr std::array file_flags{
    FileFlag{"key-file", &Request::key_file, &SecurityOptions::key_file, SecurityMode::key, true},
    FileFlag{"observer-key-file", &Request::observer_key_file, &SecurityOptions::observer_key_file,
             SecurityMode::key, false},
    FileFlag{"tls-cert", &Request::tls_cert, &SecurityOptions::certificate_file, SecurityMode::tls,
             true},
    FileFlag{"tls-key", &Request::tls_key, &SecurityOptions::private_key_file, SecurityMode::tls,
             true},
    FileFlag{"tls-ca", &Request::tls_ca, &SecurityOptions::ca_file, SecurityMode::tls, true},
    FileFlag{"tls-crl", &Request::tls_crl, &SecurityOptions::crl_file, SecurityMode::tls, false},
};

/// True when all the files that are needed have been named, and no others.
bool check_files(const SecurityOptions& options, bool observer, Report& report) {
    bool sound = true;
    for (const FileFlag& one : file_flags) {
        const bool given = !(options.*one.file).empty();
        if (given && one.mode != options.mode) {
            sound = false;
            report.say(one.flag, "it needs " + report.flag("security") + " " + name(one.mode));
        }
        const bool other_key = observer && !options.observer_key_file.empty();
        if (given || !one.needed || one.mode != options.mode) continue;
        if (one.mode == SecurityMode::key && other_key) continue;
        sound = false;
        report.say(one.flag, "it is missing; expected FILE, because security is " +
                                 std::string(name(options.mode)));
    }
    return sound;
}

void say_that_it_is_missing(const std::string& host, Report& report) {
    report.say("security",
               "it is missing, and " + in_quotes(host) +
                   " is not an address of loopback; expected key, tls or none. To make a key for "
                   "all members: bullring key new --out cluster.key; then " +
                   report.flag("security") + " key " + report.flag("key-file") + " cluster.key");
}

}  // namespace

std::vector<std::string_view> security_flags() {
    std::vector<std::string_view> flags{"security"};
    for (const FileFlag& one : file_flags) flags.emplace_back(one.flag);
    return flags;
}

SecurityOptions checked_security(const Request& request, protocol::NodeId self, Report& report) {
    SecurityOptions options;
    for (const FileFlag& one : file_flags) options.*one.file = (request.*one.asked).value;
    options.migrate = request.security_migrate.value;
    if (request.security.unusable) return options;
    if (!request.security.given) {
        std::vector<Endpoint> all = request.join.value;
        for (const auto& [id, endpoint] : request.peers.value) all.push_back(endpoint);
        if (request.join.given && request.join_as.asked()) all.push_back(request.join_as.value);
        if (request.join.given && request.listen.asked() &&
            !is_unspecified(request.listen.value.host))
            all.push_back(request.listen.value);
        for (const Endpoint& endpoint : all) {
            if (is_loopback(endpoint.host)) continue;
            say_that_it_is_missing(endpoint.host, report);
            return options;
        }
    }
    options.mode = request.security.value;
    if (options.migrate && options.mode == SecurityMode::none)
        report.say("security-migrate", "it needs " + report.flag("security") + " key or tls");
    if (!check_files(options, !self, report) || options.mode == SecurityMode::none) return options;
    const auto loaded = load_credentials(options, {request.cluster.value, self});
    if (loaded) return options;
    for (const CredentialProblem& problem : loaded.error())
        report.say(problem.flag, to_text(problem), problem.passes);
    return options;
}

NodeOptions checked(const Request& request, const Environment& environment,
                    const EndOfWork& end_of_work, Report& report) {
    NodeOptions options = checked_before_security(request, end_of_work, report);
    options.security = checked_security(request, options.config.self, report);
    check_after_security(request, environment, end_of_work, options, report);
    return options;
}

}  // namespace bullring
