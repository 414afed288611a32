#include "src/security/shown_credential.hpp"

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include "src/security/certificate_text.hpp"

namespace bullring {

namespace {

/// A status has room for those of all members.
constexpr std::size_t name_bytes_max = 200;

std::string short_name(const X509_NAME& name) { return name_text(name).substr(0, name_bytes_max); }

std::string hex(const ASN1_OCTET_STRING* id) {
    std::string text;
    for (int i = 0; id != nullptr && i < ASN1_STRING_length(id); ++i)
        text += fmt::format("{:02X}", ASN1_STRING_get0_data(id)[i]);
    return text;
}

}  // namespace

// OpenSSL notes in a certificate what it has read of it.
ShownCredential shown(const X509& certificate) {
    auto& read = const_cast<X509&>(certificate);
    return {
        "",
        serial_text(*X509_get0_serialNumber(&certificate)),
        short_name(*X509_get_subject_name(&certificate)),
        {short_name(*X509_get_issuer_name(&certificate)), hex(X509_get0_authority_key_id(&read))},
        time_text(*X509_get0_notAfter(&certificate))};
}

ShownCa shown_ca(const X509& authority) {
    return {short_name(*X509_get_subject_name(&authority)),
            hex(X509_get0_subject_key_id(&const_cast<X509&>(authority)))};
}

std::string to_text(const ShownCredential& credential) {
    if (!credential.key.empty()) return "key " + credential.key;
    if (credential.certificate.empty()) return "";
    return fmt::format("certificate {} of {}", credential.certificate, credential.subject);
}

}  // namespace bullring
