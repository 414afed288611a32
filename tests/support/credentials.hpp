// Keys and certificates for tests, made in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/security/credentials.hpp"

namespace bullring::test {

/// 32 bytes of this value.
Key key_of(std::uint8_t value);
Credentials key_credentials(std::vector<Key> keys, std::vector<Key> observer_keys = {});

OwnedCertificate copy_of(const OwnedCertificate& certificate);

struct CertificateWish {
    std::vector<std::string> uris;
    bool client = true;
    bool server = true;
    bool uses = true;         // says what it may be used for
    std::string key_usage{};  // of its key; empty: not said
    unsigned rsa_bits = 0;    // 0: an elliptic curve
    int from_hours = -1;
    int to_hours = 24;
};

struct ListWish {
    int number = 0;  // 0: none
    int from_hours = -2;
    int to_hours = 24;
};

/// A CA with a key of its own.
class TestCa {
public:
    TestCa();

    /// Of a member, an administrator, an observer, or whoever is wished for.
    Credentials issue(const CertificateWish& wish) const;
    Credentials node(std::uint64_t id, const std::string& cluster = "blue") const;
    OwnedCrl revoke(const Credentials& whose, const ListWish& wish = {}) const;
    /// As the issuer.
    void sign(X509& certificate) const;
    const OwnedCertificate& certificate() const { return certificate_; }
    const OwnedPrivateKey& key() const { return key_; }

private:
    OwnedPrivateKey key_;
    OwnedCertificate certificate_;
};

/// PEM, for files.
std::string pem_of(const OwnedCertificate& certificate);
std::string pem_of(const OwnedPrivateKey& key);
std::string pem_of(const OwnedCrl& crl);

}  // namespace bullring::test
