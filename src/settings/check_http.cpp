// The checks of what a user says of HTTP.
#include <string_view>

#include <sys/un.h>

#include "src/base/os/private_file.hpp"
#include "src/base/text/text.hpp"
#include "src/settings/request.hpp"

namespace bullring {

namespace {

constexpr std::string_view unix_prefix = "unix:";

void take_socket(const std::string& path, HttpOptions& options, Report& report) {
    constexpr std::size_t path_max = sizeof(sockaddr_un::sun_path) - 1;
    if (path.empty() || path.size() > path_max)
        return report.refuse("http", std::string(unix_prefix) + path,
                             "names no socket; expected unix:PATH with a path of 1 … " +
                                 std::to_string(path_max) + " bytes");
    options.socket = path;
}

void take_address(const std::string& text, HttpOptions& options, Report& report) {
    const auto endpoint = parse_endpoint(text);
    if (!endpoint) return report.say("http", endpoint.error() + " (or unix:PATH)");
    if (!is_loopback(endpoint->host) && !options.open_to_all)
        return report.refuse(
            "http", text,
            "is not an address of loopback; whoever reaches it can read who leads: "
            "add " +
                report.flag("http-public") + ", or use 127.0.0.1 or unix:PATH");
    options.address = *endpoint;
}

void take_token_file(const std::string& path, HttpOptions& options, Report& report) {
    const auto text = read_private_file(path);
    if (!text)
        return report.say("http-token-file", in_quotes(path) + " " + text.error().why,
                          text.error().passes);
    if (trimmed(text->view()).empty())
        return report.refuse("http-token-file", path, "is empty; expected a token on each line");
    options.token_file = path;
}

}  // namespace

HttpOptions checked_http(const Request& request, Report& report) {
    HttpOptions options;
    options.open_to_all = request.http_public.value;
    if (const auto address = request.http.asked()) {
        if (address->starts_with(unix_prefix))
            take_socket(address->substr(unix_prefix.size()), options, report);
        else
            take_address(*address, options, report);
    }
    const auto token_file = request.http_token_file.asked();
    if (token_file) take_token_file(*token_file, options, report);
    if (request.http.asked()) return options;
    constexpr const char* alone = "it needs http ADDRESS, which is not given";
    if (options.open_to_all) report.say("http-public", alone);
    if (token_file) report.say("http-token-file", alone);
    return options;
}

}  // namespace bullring
