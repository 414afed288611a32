#include "src/cli/credentials/pem.hpp"

#include <memory>
#include <utility>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "src/base/text/text.hpp"

namespace bullring {

namespace {

using OwnedNames = std::unique_ptr<GENERAL_NAMES, FreedBy<&GENERAL_NAMES_free>>;

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
