#include "src/security/peer_identity.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include "src/base/text/endpoint.hpp"
#include "src/base/text/text.hpp"
#include "src/security/openssl.hpp"

namespace bullring {

namespace {

using OwnedNames = std::unique_ptr<GENERAL_NAMES, FreedBy<&GENERAL_NAMES_free>>;

std::optional<PeerIdentity> identity_of(std::string_view uri, std::string_view cluster) {
    const std::string mine = std::string(identity_scheme) + std::string(cluster) + "/";
    if (!uri.starts_with(mine)) return std::nullopt;
    const std::string_view rest = uri.substr(mine.size());
    if (rest == "admin") return PeerIdentity{PeerRole::admin, {}};
    if (rest == "observer") return PeerIdentity{PeerRole::observer, {}};
    constexpr std::string_view node = "node/";
    if (!rest.starts_with(node)) return std::nullopt;
    const auto id = parse_node_id(rest.substr(node.size()));
    // One text for each ID: "node/03" is not node 3.
    if (!id || std::to_string(id->value) != rest.substr(node.size())) return std::nullopt;
    return PeerIdentity{PeerRole::member, *id};
}

}  // namespace

std::string to_text(const PeerIdentity& identity) {
    switch (identity.role) {
        case PeerRole::member: return "node " + std::to_string(identity.id.value);
        case PeerRole::admin: return "an administrator";
        case PeerRole::observer: return "an observer";
    }
    return "nobody";
}

std::string identity_uri(std::string_view cluster, const PeerIdentity& identity) {
    std::string base = std::string(identity_scheme) + std::string(cluster) + "/";
    switch (identity.role) {
        case PeerRole::member: return base + "node/" + std::to_string(identity.id.value);
        case PeerRole::admin: return base + "admin";
        case PeerRole::observer: return base + "observer";
    }
    return base;
}

tl::expected<PeerIdentity, std::string> identity_in(const X509& certificate,
                                                    std::string_view cluster, TlsSide peer_is) {
    // OpenSSL's functions take what they only read as not const.
    auto* const x509 = const_cast<X509*>(&certificate);
    const OwnedNames names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(x509, NID_subject_alt_name, nullptr, nullptr)));
    std::optional<PeerIdentity> found;
    std::string others;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_URI) continue;
        const ASN1_IA5STRING* const text = name->d.uniformResourceIdentifier;
        const std::string_view uri(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                   static_cast<std::size_t>(ASN1_STRING_length(text)));
        if (const auto identity = identity_of(uri, cluster)) {
            if (found && *found != *identity)
                return tl::unexpected(
                    fmt::format("its certificate is for {} and for {} of cluster '{}'; expected "
                                "one of them",
                                to_text(*found), to_text(*identity), cluster));
            found = identity;
        } else if (uri.starts_with(identity_scheme)) {
            others += (others.empty() ? "" : ", ") + in_quotes(uri);
        }
    }
    if (!found)
        return tl::unexpected(
            others.empty()
                ? fmt::format("its certificate has no URI {}{}/… among its alternative names",
                              identity_scheme, cluster)
                : fmt::format("its certificate is for {}, not for cluster '{}'", others, cluster));
    // Without the extension OpenSSL allows every use.
    const std::uint32_t uses = X509_get_extended_key_usage(x509);
    const bool is_client = peer_is == TlsSide::dialler;
    if (uses == UINT32_MAX || (uses & (is_client ? XKU_SSL_CLIENT : XKU_SSL_SERVER)) == 0)
        return tl::unexpected(fmt::format("its certificate lacks the extended key usage {}",
                                          is_client ? "clientAuth" : "serverAuth"));
    return *found;
}

}  // namespace bullring
