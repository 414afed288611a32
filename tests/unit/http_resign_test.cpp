#include <map>

#include <doctest/doctest.h>

#include "src/http/resign_request.hpp"

namespace bullring::http_resign_test {
namespace {

using Headers = std::map<std::string, std::string, std::less<>>;

int refused(const Headers& headers, const HttpAccess& access,
            const std::optional<std::string>& tokens) {
    const auto answer =
        refusal({"POST", "/resign", "",
                 [&](std::string_view name) -> std::string_view {
                     const auto found = headers.find(name);
                     return found == headers.end() ? std::string_view() : found->second;
                 }},
                access, tokens);
    return answer ? answer->status : 0;
}

const HttpAccess by_socket{true, false, ""};
const HttpAccess by_token{false, false, "/token"};

TEST_CASE("http resign: the owner of the Unix socket may, and nobody else without a token") {
    CHECK(refused({}, by_socket, {}) == 0);
    CHECK(refused({}, {false, false, ""}, {}) == 403);
    CHECK(refused({{"Authorization", "Bearer x"}}, {false, false, ""}, {}) == 403);
}

TEST_CASE("http resign: the token must be one of the file's lines") {
    const auto with = [](const char* authorization, const char* file) {
        return refused({{"Authorization", authorization}}, by_token, std::string(file));
    };
    CHECK(with("Bearer secret", "secret\n") == 0);
    CHECK(with("Bearer secret", "other\r\nsecret") == 0);
    CHECK(with("Bearer other", "other\r\nsecret") == 0);
    CHECK(with("bearer secret", "secret\n") == 0);
    CHECK(with("BEARER  secret", "secret\n") == 0);
    CHECK(with("Bearer secre", "secret\n") == 403);
    CHECK(with("Bearer secrets", "secret\n") == 403);
    CHECK(with("Bearer ", "\n\n") == 403);
    CHECK(with("Bearer", "secret\n") == 403);
    CHECK(with("Basic secret", "secret\n") == 403);
    CHECK(refused({}, by_token, "secret\n") == 403);
    CHECK(refused({{"Authorization", "Bearer secret"}}, by_token, std::nullopt) == 403);
}

TEST_CASE("http resign: nothing is changed where everybody can read, whoever asks") {
    const HttpAccess open{false, true, "/token"};
    CHECK(refused({{"Authorization", "Bearer secret"}}, open, "secret\n") == 403);
    CHECK(refused({}, {true, true, ""}, {}) == 403);
}

TEST_CASE("http resign: a page of another origin may not, with whatever token") {
    const auto from = [](Headers headers) {
        headers.insert({{"Authorization", "Bearer secret"}, {"Host", "127.0.0.1:8080"}});
        return refused(headers, by_token, "secret\n");
    };
    CHECK(from({{"Origin", "http://127.0.0.1:8080"}}) == 0);
    CHECK(from({{"Sec-Fetch-Site", "same-origin"}}) == 0);
    CHECK(from({{"Sec-Fetch-Site", "none"}}) == 0);
    CHECK(from({{"Origin", "http://127.0.0.1:8081"}}) == 403);
    CHECK(from({{"Origin", "http://evil.example"}}) == 403);
    CHECK(from({{"Origin", "null"}}) == 403);
    CHECK(from({{"Sec-Fetch-Site", "cross-site"}}) == 403);
    CHECK(from({{"Sec-Fetch-Site", "same-site"}}) == 403);
}

TEST_CASE("http resign: the body names a successor, or nobody") {
    const auto asked_for = [](std::string_view body) -> std::int64_t {
        const auto asked = successor_asked_for(body);
        if (const auto* id = std::get_if<protocol::NodeId>(&asked))
            return static_cast<std::int64_t>(id->value);
        CHECK(std::get<HttpAnswer>(asked).status == 400);
        return -1;
    };
    CHECK(asked_for("") == 0);
    CHECK(asked_for(" \r\n") == 0);
    CHECK(asked_for("{}") == 0);
    CHECK(asked_for("{\"to\":3}") == 3);
    for (const char* wrong : {"{", "3", "[]", "\"to\"", "{\"to\":0}", "{\"to\":-1}", "{\"to\":1.5}",
                              "{\"to\":\"3\"}", "{\"to\":null}", "{\"from\":3}",
                              "{\"to\":3,\"now\":true}", "{\"to\":18446744073709551616}"})
        CHECK_MESSAGE(asked_for(wrong) == -1, wrong);
}

}  // namespace
}  // namespace bullring::http_resign_test
