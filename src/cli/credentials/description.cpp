#include "src/cli/credentials/description.hpp"

#include <string_view>

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include "src/base/text/text.hpp"
#include "src/cli/credentials/pem.hpp"
#include "src/security/certificate_text.hpp"
#include "src/security/revocations.hpp"

namespace bullring {

namespace {

std::string line(std::string_view name, std::string_view value) {
    return fmt::format("  {:<10}{}\n", name, value);
}

/// From now to then: "364 days left", "2 days ago".
std::string distance_to(const ASN1_TIME& time) {
    int days = 0;
    int seconds = 0;
    if (ASN1_TIME_diff(&days, &seconds, nullptr, &time) != 1) return "?";
    if (days == 0) return seconds > 0 ? "less than a day left" : "less than a day ago";
    const char* const unit = days == 1 || days == -1 ? "day" : "days";
    return days > 0 ? fmt::format("{} {} left", days, unit) : fmt::format("{} {} ago", -days, unit);
}

std::string validity(X509& certificate) {
    const ASN1_TIME& begin = *X509_get0_notBefore(&certificate);
    const ASN1_TIME& end = *X509_get0_notAfter(&certificate);
    const bool early = X509_cmp_current_time(&begin) > 0;
    const bool over = X509_cmp_current_time(&end) < 0;
    return fmt::format("{} to {} ({}{})", time_text(begin), time_text(end),
                       early  ? "not yet valid, "
                       : over ? "expired "
                              : "",
                       distance_to(end));
}

std::string uses(X509& certificate) {
    if (X509_check_ca(&certificate) == 1) return "signs certificates (CA)";
    const std::uint32_t bits = X509_get_extended_key_usage(&certificate);
    if (bits == UINT32_MAX) return "not restricted; bullring expects clientAuth";
    std::string text;
    if ((bits & XKU_SSL_SERVER) != 0) text += "serverAuth";
    if ((bits & XKU_SSL_CLIENT) != 0) text += text.empty() ? "clientAuth" : ", clientAuth";
    return text.empty() ? "neither serverAuth nor clientAuth" : text;
}

}  // namespace

std::string description(X509& certificate) {
    std::string identities;
    for (const std::string& uri : uris_of(certificate))
        identities += (identities.empty() ? "" : ", ") + one_line(uri);
    return line("identity",
                identities.empty() ? "none: no URI is among its alternative names" : identities) +
           line("subject", name_text(*X509_get_subject_name(&certificate))) +
           line("issuer", name_text(*X509_get_issuer_name(&certificate))) +
           line("serial", serial_text(*X509_get0_serialNumber(&certificate))) +
           line("valid", validity(certificate)) + line("use", uses(certificate));
}

std::string description(X509_CRL& list) {
    const ASN1_TIME* const next = X509_CRL_get0_nextUpdate(&list);
    const std::string number = number_of(list);
    std::string text =
        line("list of", name_text(*X509_CRL_get_issuer(&list))) +
        line("valid", fmt::format("{} to {}", time_text(*X509_CRL_get0_lastUpdate(&list)),
                                  next == nullptr ? std::string("no stated end")
                                                  : fmt::format("{} ({})", time_text(*next),
                                                                distance_to(*next)))) +
        line("number", number.empty() ? "none" : number);
    STACK_OF(X509_REVOKED)* const revoked = X509_CRL_get_REVOKED(&list);
    for (int i = 0; i < sk_X509_REVOKED_num(revoked); ++i) {
        const X509_REVOKED* const one = sk_X509_REVOKED_value(revoked, i);
        text += line("revoked",
                     fmt::format("{} on {}", serial_text(*X509_REVOKED_get0_serialNumber(one)),
                                 time_text(*X509_REVOKED_get0_revocationDate(one))));
    }
    return sk_X509_REVOKED_num(revoked) > 0 ? text : text + line("revoked", "none");
}

}  // namespace bullring
