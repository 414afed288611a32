// Owns: OpenSSL's objects, by C++ rules.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace bullring {

template <auto free_it>
struct FreedBy {
    template <class T>
    void operator()(T* object) const {
        free_it(object);
    }
};

using OwnedSslContext = std::unique_ptr<SSL_CTX, FreedBy<&SSL_CTX_free>>;
using OwnedSsl = std::unique_ptr<SSL, FreedBy<&SSL_free>>;
using OwnedSslSession = std::unique_ptr<SSL_SESSION, FreedBy<&SSL_SESSION_free>>;
using OwnedBio = std::unique_ptr<BIO, FreedBy<&BIO_free_all>>;
using OwnedCertificate = std::unique_ptr<X509, FreedBy<&X509_free>>;
using OwnedCrl = std::unique_ptr<X509_CRL, FreedBy<&X509_CRL_free>>;
using OwnedStore = std::unique_ptr<X509_STORE, FreedBy<&X509_STORE_free>>;
using OwnedStoreContext = std::unique_ptr<X509_STORE_CTX, FreedBy<&X509_STORE_CTX_free>>;
using OwnedPrivateKey = std::unique_ptr<EVP_PKEY, FreedBy<&EVP_PKEY_free>>;
using OwnedKdf = std::unique_ptr<EVP_KDF, FreedBy<&EVP_KDF_free>>;
using OwnedKdfContext = std::unique_ptr<EVP_KDF_CTX, FreedBy<&EVP_KDF_CTX_free>>;

/// Since 1970; 0 for what is no time.
inline std::int64_t seconds_of(const ASN1_TIME* time) {
    std::tm parts{};
    return ASN1_TIME_to_tm(time, &parts) == 1 ? ::timegm(&parts) : 0;
}

}  // namespace bullring
