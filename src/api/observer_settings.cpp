#include "src/api/observer_settings.hpp"

#include <utility>

#include "src/security/checked_security.hpp"

namespace bullring {

ObserverOptions observer_settings(const char* subcommand, const std::string& peers,
                                  const std::string& cluster, const ObserverSecurity& security) {
    RawValues values{{"peers", {peers, "peers"}}, {"cluster", {cluster, "cluster"}}};
    for (const auto& [name, text] : {std::pair{"security", &security.security},
                                     {"key-file", &security.key_file},
                                     {"observer-key-file", &security.observer_key_file},
                                     {"tls-cert", &security.tls_cert},
                                     {"tls-key", &security.tls_key},
                                     {"tls-ca", &security.tls_ca},
                                     {"tls-crl", &security.tls_crl}})
        if (!text->empty()) values[name] = {*text, name};
    Problems problems;
    Report report(values, problems, "");
    const Request request = read_request(subcommand, values, report);
    SecurityOptions secured = checked_security(request, protocol::nobody, report);
    if (!problems.empty()) throw ConfigError(std::move(problems));
    // Nothing goes to stderr: a library answers its caller.
    return {
        request.peers.value, request.cluster.value, std::move(secured), {.level = LogLevel::error}};
}

}  // namespace bullring
