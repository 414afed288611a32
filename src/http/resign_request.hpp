// Checks a request to resign before it is obeyed: its sender and its content. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/values/ids.hpp"
#include "src/http/answers.hpp"
#include "src/http/http_request.hpp"

namespace bullring {

/// How requests reach the endpoint.
struct HttpAccess {
    bool by_unix_socket = false;  // by its owner alone
    bool read_only = false;
    std::string token_file;  // empty: none
};

/// The tokens of a file: a line each, so that one can be changed while another is still in use.
bool is_token(std::string_view word, std::string_view file);

/// The answer that refuses it, if it is refused. `tokens`: what the token file holds now; nullopt:
/// it can't be read.
std::optional<HttpAnswer> refusal(const HttpRequest& request, const HttpAccess& access,
                                  const std::optional<std::string>& tokens);

/// `nobody` if the leader may choose; or the answer that says what is wrong.
std::variant<protocol::NodeId, HttpAnswer> successor_asked_for(std::string_view body);

/// It can't be done now; the reason is sent.
HttpAnswer conflict(const std::string& why);

}  // namespace bullring
