#include "src/security/psk.hpp"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include "src/base/text/endpoint.hpp"
#include "src/security/openssl.hpp"

namespace bullring {

namespace {

constexpr std::string_view purpose = "bullring psk v1 ";
constexpr std::string_view anybody = "any";
constexpr std::string_view arrow = "→";

std::string dialler_text(const PeerIdentity& dialler) {
    switch (dialler.role) {
        case PeerRole::member: return std::to_string(dialler.id.value);
        case PeerRole::admin: return "admin";
        case PeerRole::observer: return "observer";
    }
    return {};
}

}  // namespace

std::string to_text(const PskIdentity& identity) {
    return identity.cluster + "/" + identity.key_id + "/" + dialler_text(identity.dialler) +
           std::string(arrow) +
           (identity.acceptor ? std::to_string(identity.acceptor.value) : std::string(anybody));
}

std::optional<PskIdentity> parse_psk_identity(std::string_view text) {
    const std::size_t first = text.find('/');
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t second = text.find('/', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const std::string_view pair = text.substr(second + 1);
    const std::size_t middle = pair.find(arrow);
    if (middle == std::string_view::npos) return std::nullopt;
    PskIdentity identity{std::string(text.substr(0, first)),
                         std::string(text.substr(first + 1, second - first - 1)),
                         {},
                         {}};
    const std::string_view dialler = pair.substr(0, middle);
    if (dialler == "admin") {
        identity.dialler = {PeerRole::admin, {}};
    } else if (dialler == "observer") {
        identity.dialler = {PeerRole::observer, {}};
    } else {
        const auto id = parse_node_id(dialler);
        if (!id) return std::nullopt;
        identity.dialler = {PeerRole::member, *id};
    }
    if (const std::string_view whom = pair.substr(middle + arrow.size()); whom != anybody) {
        const auto acceptor = parse_node_id(whom);
        if (!acceptor) return std::nullopt;
        identity.acceptor = *acceptor;
    }
    if (to_text(identity) != text) return std::nullopt;
    return identity;
}

std::optional<Psk> derive_psk(const Key& key, const PskIdentity& identity) {
    // Looked up once: OpenSSL's search takes a lock.
    static const OwnedKdf hkdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
    const OwnedKdfContext context(EVP_KDF_CTX_new(hkdf.get()));
    if (!context) return std::nullopt;
    std::string info = std::string(purpose) + to_text(identity);
    std::array<std::uint8_t, key_bytes> secret = key.bytes;
    std::string digest = "SHA256";
    const std::array<OSSL_PARAM, 4> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
        OSSL_PARAM_construct_end()};
    Psk psk{};
    const int done = EVP_KDF_derive(context.get(), psk.data(), psk.size(), parameters.data());
    OPENSSL_cleanse(secret.data(), secret.size());
    if (done != 1) return std::nullopt;
    return psk;
}

}  // namespace bullring
