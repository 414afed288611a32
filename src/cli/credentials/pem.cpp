#include "src/cli/credentials/pem.hpp"

#include <ctime>
#include <memory>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "src/base/text/text.hpp"

namespace bullring {

namespace {

using OwnedNames = std::unique_ptr<GENERAL_NAMES, FreedBy<&GENERAL_NAMES_free>>;
using OwnedNumber = std::unique_ptr<BIGNUM, FreedBy<&BN_free>>;

std::string_view content(BIO& memory) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(&memory, &data);
    return size > 0 ? std::string_view(data, static_cast<std::size_t>(size)) : std::string_view();
}

}  // namespace

std::string to_pem(X509& certificate) {
    const OwnedBio memory(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(memory.get(), &certificate);
    return std::string(content(*memory));
}

std::string to_pem(X509_CRL& list) {
    const OwnedBio memory(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509_CRL(memory.get(), &list);
    return std::string(content(*memory));
}

SecretText to_pem(EVP_PKEY& key) {
    // OpenSSL wipes what such a memory held.
    const OwnedBio memory(BIO_new(BIO_s_secmem()));
    PEM_write_bio_PKCS8PrivateKey(memory.get(), &key, nullptr, nullptr, 0, nullptr, nullptr);
    return SecretText(std::string(content(*memory)));
}

std::string name_text(const X509_NAME& name) {
    const OwnedBio memory(BIO_new(BIO_s_mem()));
    X509_NAME_print_ex(memory.get(), &name, 0, XN_FLAG_ONELINE & ~XN_FLAG_SPC_EQ);
    return one_line(content(*memory));
}

std::string time_text(const ASN1_TIME& time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(&time, &parts) != 1) return "an unreadable time";
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

std::string serial_text(const ASN1_INTEGER& serial) {
    const OwnedNumber number(ASN1_INTEGER_to_BN(&serial, nullptr));
    char* const hex = number ? BN_bn2hex(number.get()) : nullptr;
    std::string text = hex == nullptr ? "" : hex;
    OPENSSL_free(hex);
    return text;
}

std::vector<std::string> uris_of(X509& certificate) {
    const OwnedNames names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
    std::vector<std::string> uris;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_URI) continue;
        const ASN1_IA5STRING* const text = name->d.uniformResourceIdentifier;
        uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                          static_cast<std::size_t>(ASN1_STRING_length(text)));
    }
    return uris;
}

}  // namespace bullring
