#include "tests/support/credentials.hpp"

#include <cstdlib>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace bullring::test {

namespace {

void require(bool done) {
    if (!done) std::abort();
}

void set_time(ASN1_TIME* time, int hours) { require(X509_gmtime_adj(time, hours * 3600L)); }

void add_extension(X509* to, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    require(extension != nullptr && X509_add_ext(to, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

long next_serial() {
    static long serial = 0;
    return ++serial;
}

OwnedCertificate certificate_for(EVP_PKEY* key, const char* name, int from_hours, int to_hours) {
    OwnedCertificate made(X509_new());
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), next_serial());
    set_time(X509_getm_notBefore(made.get()), from_hours);
    set_time(X509_getm_notAfter(made.get()), to_hours);
    X509_set_pubkey(made.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    return made;
}

template <class Write>
std::string written(Write write) {
    const OwnedBio bio(BIO_new(BIO_s_mem()));
    require(write(bio.get()) == 1);
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

}  // namespace

Key key_of(std::uint8_t value) {
    Key key;
    key.bytes.fill(value);
    key.id = "0000000" + std::to_string(value % 10);
    return key;
}

Credentials key_credentials(std::vector<Key> keys, std::vector<Key> observer_keys) {
    Credentials made;
    made.mode = SecurityMode::key;
    made.keys = std::move(keys);
    made.observer_keys = std::move(observer_keys);
    return made;
}

OwnedCertificate copy_of(const OwnedCertificate& certificate) {
    return OwnedCertificate(X509_dup(certificate.get()));
}

TestCa::TestCa() : key_(EVP_EC_gen("P-256")) {
    certificate_ = certificate_for(key_.get(), "test CA", -1, 48);
    X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
    add_extension(certificate_.get(), certificate_.get(), NID_basic_constraints,
                  "critical,CA:TRUE");
    add_extension(certificate_.get(), certificate_.get(), NID_subject_key_identifier, "hash");
    require(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0);
}

Credentials TestCa::issue(const CertificateWish& wish) const {
    Credentials made;
    made.mode = SecurityMode::tls;
    made.private_key.reset(wish.rsa_bits == 0 ? EVP_EC_gen("P-256") : EVP_RSA_gen(wish.rsa_bits));
    OwnedCertificate mine =
        certificate_for(made.private_key.get(), "nobody", wish.from_hours, wish.to_hours);
    add_extension(mine.get(), certificate_.get(), NID_authority_key_identifier, "keyid");
    std::string names;
    for (const std::string& uri : wish.uris) names += (names.empty() ? "URI:" : ",URI:") + uri;
    if (!names.empty()) add_extension(mine.get(), certificate_.get(), NID_subject_alt_name, names);
    std::string uses = wish.client ? "clientAuth" : "";
    if (wish.server) uses += uses.empty() ? "serverAuth" : ",serverAuth";
    if (wish.uses) add_extension(mine.get(), certificate_.get(), NID_ext_key_usage, uses);
    if (!wish.key_usage.empty())
        add_extension(mine.get(), certificate_.get(), NID_key_usage, wish.key_usage);
    sign(*mine);
    made.chain.push_back(std::move(mine));
    made.authorities.push_back(copy_of(certificate_));
    return made;
}

void TestCa::sign(X509& certificate) const {
    X509_set_issuer_name(&certificate, X509_get_subject_name(certificate_.get()));
    require(X509_sign(&certificate, key_.get(), EVP_sha256()) > 0);
}

Credentials TestCa::node(std::uint64_t id, const std::string& cluster) const {
    CertificateWish wish;
    wish.uris = {"bullring://" + cluster + "/node/" + std::to_string(id)};
    return issue(wish);
}

OwnedCrl TestCa::revoke(const Credentials& whose, const ListWish& wish) const {
    OwnedCrl made(X509_CRL_new());
    X509_CRL_set_version(made.get(), 1);
    X509_CRL_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get()));
    ASN1_TIME* const time = ASN1_TIME_new();
    set_time(time, wish.from_hours);
    X509_CRL_set1_lastUpdate(made.get(), time);
    X509_REVOKED* const revoked = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(revoked, X509_get_serialNumber(whose.chain.front().get()));
    X509_REVOKED_set_revocationDate(revoked, time);
    X509_CRL_add0_revoked(made.get(), revoked);
    set_time(time, wish.to_hours);
    X509_CRL_set1_nextUpdate(made.get(), time);
    ASN1_TIME_free(time);
    if (wish.number != 0) {
        ASN1_INTEGER* const number = ASN1_INTEGER_new();
        ASN1_INTEGER_set(number, wish.number);
        require(X509_CRL_add1_ext_i2d(made.get(), NID_crl_number, number, 0, 0) == 1);
        ASN1_INTEGER_free(number);
    }
    X509_CRL_sort(made.get());
    require(X509_CRL_sign(made.get(), key_.get(), EVP_sha256()) > 0);
    return made;
}

std::string pem_of(const OwnedCertificate& certificate) {
    return written([&](BIO* to) { return PEM_write_bio_X509(to, certificate.get()); });
}
std::string pem_of(const OwnedPrivateKey& key) {
    return written([&](BIO* to) {
        return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
}
std::string pem_of(const OwnedCrl& crl) {
    return written([&](BIO* to) { return PEM_write_bio_X509_CRL(to, crl.get()); });
}

}  // namespace bullring::test
