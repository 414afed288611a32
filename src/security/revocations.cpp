#include "src/security/revocations.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "src/base/text/rfc3339.hpp"
#include "src/base/text/text.hpp"

namespace bullring {

namespace {

using OwnedInteger = std::unique_ptr<ASN1_INTEGER, FreedBy<&ASN1_INTEGER_free>>;

OwnedInteger number_in(const X509_CRL& list) {
    return OwnedInteger(
        static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(&list, NID_crl_number, nullptr, nullptr)));
}

bool has_signed(const X509& authority, const X509_CRL& list) {
    if (X509_NAME_cmp(X509_get_subject_name(&authority), X509_CRL_get_issuer(&list)) != 0)
        return false;
    // Neither is changed by it.
    const int signed_by =
        X509_CRL_verify(const_cast<X509_CRL*>(&list), X509_get0_pubkey(&authority));
    ERR_clear_error();
    return signed_by == 1;
}

/// A CA may make several, for users and for CAs say, each of which has an order of its own.
bool same_scope(const X509_CRL& one, const X509_CRL& other) {
    const auto scope = [](const X509_CRL& list) {
        X509_EXTENSION* const found = X509_CRL_get_ext(
            &list, X509_CRL_get_ext_by_NID(&list, NID_issuing_distribution_point, -1));
        return found == nullptr ? nullptr : X509_EXTENSION_get_data(found);
    };
    const ASN1_OCTET_STRING* const a = scope(one);
    const ASN1_OCTET_STRING* const b = scope(other);
    return a == nullptr || b == nullptr ? a == b : ASN1_OCTET_STRING_cmp(a, b) == 0;
}

/// A CA between the known ones and a certificate is known by its name alone.
bool of_one_ca(const X509_CRL& one, const X509_CRL& other,
               const std::vector<OwnedCertificate>& authorities) {
    return X509_NAME_cmp(X509_CRL_get_issuer(&one), X509_CRL_get_issuer(&other)) == 0 &&
           same_scope(one, other) &&
           std::all_of(authorities.begin(), authorities.end(), [&](const auto& authority) {
               return has_signed(*authority, one) == has_signed(*authority, other);
           });
}

}  // namespace

std::string number_of(const X509_CRL& list) {
    const OwnedInteger number = number_in(list);
    char* const text = number ? i2s_ASN1_INTEGER(nullptr, number.get()) : nullptr;
    std::string copy = text == nullptr ? "" : text;
    OPENSSL_free(text);
    return copy;
}

std::string described(const X509_CRL& list) {
    std::array<char, 128> name{};
    X509_NAME_oneline(X509_CRL_get_issuer(&list), name.data(), name.size());
    const std::string number = number_of(list);
    const Rfc3339 made(std::chrono::seconds(seconds_of(X509_CRL_get0_lastUpdate(&list))));
    return fmt::format("{} of {} of {}Z",
                       number.empty() ? "the list without a number" : "list " + number,
                       in_quotes(name.data()), made.text().substr(0, made.text().find('.')));
}

bool is_older(const X509_CRL& one, const X509_CRL& other,
              const std::vector<OwnedCertificate>& authorities) {
    if (!of_one_ca(one, other, authorities)) return false;
    const OwnedInteger a = number_in(one);
    const OwnedInteger b = number_in(other);
    if (a && b) return ASN1_INTEGER_cmp(a.get(), b.get()) < 0;
    return ASN1_TIME_compare(X509_CRL_get0_lastUpdate(&one), X509_CRL_get0_lastUpdate(&other)) < 0;
}

std::string setback(const std::vector<OwnedCrl>& lists, const std::vector<OwnedCrl>& in_use,
                    const std::vector<OwnedCertificate>& authorities) {
    for (const OwnedCrl& now : in_use) {
        const X509_CRL* older = nullptr;
        const bool goes_on = std::any_of(lists.begin(), lists.end(), [&](const auto& list) {
            if (!of_one_ca(*list, *now, authorities)) return false;
            if (!is_older(*list, *now, authorities)) return true;
            older = list.get();
            return false;
        });
        const bool trusted =
            std::any_of(authorities.begin(), authorities.end(),
                        [&](const auto& authority) { return has_signed(*authority, *now); });
        if (goes_on || (older == nullptr && !trusted)) continue;
        const std::string expected =
            described(*now) + " is in use; expected that one or a newer one";
        return older != nullptr
                   ? fmt::format("has {}, which is older: {}", described(*older), expected)
                   : "has no list of a CA whose " + expected;
    }
    return {};
}

}  // namespace bullring
