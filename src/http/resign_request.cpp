#include "src/http/resign_request.hpp"

#include <algorithm>

#include "src/base/text/json.hpp"
#include "src/http/tokens.hpp"

namespace bullring {

namespace {

constexpr std::string_view bearer = "bearer";

/// The credentials behind the scheme, whose case counts for nothing (RFC 9110, 11.1).
std::string_view bearer_token(std::string_view authorization) {
    const std::size_t end = std::min(authorization.find(' '), authorization.size());
    if (!equal_ignoring_case(authorization.substr(0, end), bearer)) return {};
    return trimmed(authorization.substr(end));
}

HttpAnswer forbidden(const char* why) { return {403, std::string(why) + "\n", "text/plain"}; }

/// The time does not depend on where the two differ.
bool equal(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned char difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
    return difference == 0;
}

/// A browser says for which page it asks; other clients say nothing.
bool is_of_another_origin(const HttpRequest& request) {
    const std::string_view site = request.header("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") return true;
    const std::string_view origin = request.header("Origin");
    if (origin.empty()) return false;
    const std::size_t scheme = origin.find("://");
    return scheme == std::string_view::npos || origin.substr(scheme + 3) != request.header("Host");
}

}  // namespace

bool is_token(std::string_view word, std::string_view file) {
    bool found = false;
    while (!file.empty()) {
        const std::size_t end = std::min(file.find('\n'), file.size());
        std::string_view line = file.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty() && equal(line, word)) found = true;
        file.remove_prefix(std::min(end + 1, file.size()));
    }
    return found;
}

std::optional<HttpAnswer> refusal(const HttpRequest& request, const HttpAccess& access,
                                  const std::optional<std::string>& tokens) {
    if (is_of_another_origin(request)) return forbidden("not for a page of another origin");
    if (access.read_only) return forbidden("with --http-public nothing can be changed here");
    if (access.by_unix_socket) return std::nullopt;
    if (access.token_file.empty())
        return forbidden("only on a Unix socket, or with the token of --http-token-file");
    if (!tokens) return forbidden("the file of --http-token-file can't be read");
    if (!is_token(bearer_token(request.header("Authorization")), *tokens))
        return forbidden("expected Authorization: Bearer, and the token of --http-token-file");
    return std::nullopt;
}

HttpAnswer conflict(const std::string& why) {
    Json json;
    json["why"] = why;
    return {409, json_text(json) + "\n"};
}

std::variant<protocol::NodeId, HttpAnswer> successor_asked_for(std::string_view body) {
    if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return protocol::nobody;
    const Json json = Json::parse(body, nullptr, false);
    const bool sound =
        json.is_object() && (json.empty() || (json.size() == 1 && json.contains("to")));
    if (sound && json.empty()) return protocol::nobody;
    if (!sound || !json["to"].is_number_unsigned() || json["to"] == 0)
        return HttpAnswer{400, "expected nothing, or {\"to\":ID}\n", "text/plain"};
    return protocol::NodeId{json["to"].get<std::uint64_t>()};
}

}  // namespace bullring
