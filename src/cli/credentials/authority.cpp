#include "src/cli/credentials/authority.hpp"

#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/x509v3.h>

#include "src/cli/credentials/pem.hpp"
#include "src/security/certificate_text.hpp"
#include "src/security/openssl_reason.hpp"
#include "src/security/peer_identity.hpp"
#include "src/security/pem_text.hpp"

namespace bullring {

namespace {

using OwnedExtension = std::unique_ptr<X509_EXTENSION, FreedBy<&X509_EXTENSION_free>>;
using OwnedNumber = std::unique_ptr<BIGNUM, FreedBy<&BN_free>>;
using OwnedInteger = std::unique_ptr<ASN1_INTEGER, FreedBy<&ASN1_INTEGER_free>>;
using OwnedTime = std::unique_ptr<ASN1_TIME, FreedBy<&ASN1_TIME_free>>;
using OwnedRevoked = std::unique_ptr<X509_REVOKED, FreedBy<&X509_REVOKED_free>>;

constexpr std::int64_t ca_days = 3650;
constexpr std::int64_t certificate_days = 365;
/// A certificate made now is valid at once on a machine whose clock is behind.
constexpr long seconds_before = 300;
constexpr long version_3 = 2;  // of a certificate, as X.509 counts
constexpr long version_2 = 1;  // of a revocation list
constexpr std::string_view of_ca = "/ca";

OwnedTime in_days(std::int64_t days) {
    return OwnedTime(X509_time_adj_ex(nullptr, static_cast<int>(days), 0, nullptr));
}

OwnedTime a_little_ago() {
    return OwnedTime(X509_time_adj_ex(nullptr, 0, -seconds_before, nullptr));
}

bool is_later(const ASN1_TIME& one, const ASN1_TIME& other) {
    return ASN1_TIME_compare(&one, &other) > 0;
}

bool set_serial(X509& certificate) {
    // Unique without a file that counts: 127 random bits.
    constexpr int bits = 127;
    const OwnedNumber number(BN_new());
    return number && BN_rand(number.get(), bits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
           BN_is_zero(number.get()) == 0 &&
           BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_name(X509_NAME& name, const std::string& organization, const std::string& common) {
    const auto add = [&](int kind, const std::string& text) {
        return X509_NAME_add_entry_by_NID(&name, kind, MBSTRING_UTF8,
                                          reinterpret_cast<const unsigned char*>(text.data()),
                                          static_cast<int>(text.size()), -1, 0) == 1;
    };
    return add(NID_organizationName, organization) && add(NID_commonName, common);
}

/// Begins a certificate: all but its name, its issuer, its end and its extensions.
OwnedCertificate begun(EVP_PKEY& key) {
    OwnedCertificate certificate(X509_new());
    const OwnedTime begin = a_little_ago();
    const bool done = certificate && begin && X509_set_version(certificate.get(), version_3) == 1 &&
                      set_serial(*certificate) && X509_set_pubkey(certificate.get(), &key) == 1 &&
                      X509_set1_notBefore(certificate.get(), begin.get()) == 1;
    return done ? std::move(certificate) : nullptr;
}

bool add_extension(X509& certificate, X509& issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
    X509V3_set_ctx_nodb(&context);
    const OwnedExtension extension(X509V3_EXT_nconf_nid(nullptr, &context, kind, value.c_str()));
    return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

OwnedPrivateKey generated_key() {
    return OwnedPrivateKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
}

/// Of a CA of other making the key may be one that brings its own.
const EVP_MD* digest_for(EVP_PKEY& key) {
    std::array<char, 32> standard{};
    const int found = EVP_PKEY_get_default_digest_name(&key, standard.data(), standard.size());
    const bool has_none = found > 0 && std::string_view(standard.data()) == "UNDEF";
    return has_none ? nullptr : EVP_sha256();
}

/// The first 8 hex digits of the SHA-256 of its public key.
std::string short_key_name(const X509& certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (X509_pubkey_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) return {};
    return fmt::format("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
}

CertificateAndKey as_pem(X509& certificate, EVP_PKEY& key) {
    return {to_pem(certificate), to_pem(key), serial_text(*X509_get0_serialNumber(&certificate)),
            time_text(*X509_get0_notAfter(&certificate))};
}

/// That a CA of our making is for.
std::string cluster_of(X509& certificate) {
    for (const std::string& uri : uris_of(certificate))
        if (uri.starts_with(identity_scheme) && uri.ends_with(of_ca))
            return uri.substr(identity_scheme.size(),
                              uri.size() - identity_scheme.size() - of_ca.size());
    return {};
}

std::string cannot(const char* what) {
    return fmt::format("OpenSSL can't {}: {}", what, openssl_reason());
}

bool add_revoked(X509_CRL& list, const ASN1_INTEGER& serial, const ASN1_TIME& when) {
    X509_REVOKED* known = nullptr;
    ASN1_INTEGER* const asked = const_cast<ASN1_INTEGER*>(&serial);
    if (X509_CRL_get0_by_serial(&list, &known, asked) != 0) return true;
    OwnedRevoked entry(X509_REVOKED_new());
    if (!entry || X509_REVOKED_set_serialNumber(entry.get(), asked) != 1 ||
        X509_REVOKED_set_revocationDate(entry.get(), const_cast<ASN1_TIME*>(&when)) != 1 ||
        X509_CRL_add0_revoked(&list, entry.get()) != 1)
        return false;
    static_cast<void>(entry.release());
    return true;
}

/// One more than the earlier list has.
bool set_number(X509_CRL& list, const X509_CRL* earlier) {
    const OwnedInteger before(earlier == nullptr ? nullptr
                                                 : static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(
                                                       earlier, NID_crl_number, nullptr, nullptr)));
    const OwnedNumber number(before ? ASN1_INTEGER_to_BN(before.get(), nullptr) : BN_new());
    if (!number || BN_add_word(number.get(), 1) != 1) return false;
    const OwnedInteger text(BN_to_ASN1_INTEGER(number.get(), nullptr));
    return text && X509_CRL_add1_ext_i2d(&list, NID_crl_number, text.get(), 0, 0) == 1;
}

}  // namespace

tl::expected<CertificateAndKey, std::string> Authority::make(const std::string& cluster,
                                                             Days days) {
    const OwnedPrivateKey key = generated_key();
    if (!key) return tl::unexpected(cannot("make a key"));
    const OwnedCertificate certificate = begun(*key);
    const OwnedTime end = in_days(days.value_or(ca_days));
    if (!certificate || !end || X509_set1_notAfter(certificate.get(), end.get()) != 1)
        return tl::unexpected(cannot("make a certificate"));
    X509& ca = *certificate;
    X509_NAME& name = *X509_get_subject_name(&ca);
    const bool made =
        add_extension(ca, ca, NID_subject_key_identifier, "hash") &&
        add_extension(ca, ca, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
        add_extension(ca, ca, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(ca, ca, NID_subject_alt_name,
                      fmt::format("URI:{}{}{}", identity_scheme, cluster, of_ca)) &&
        // Two CAs of one cluster, as while one takes over from the other, differ in their names.
        set_name(name, cluster, "bullring CA " + short_key_name(ca)) &&
        X509_set_issuer_name(&ca, &name) == 1 && X509_sign(&ca, key.get(), digest_for(*key)) > 0;
    if (!made) return tl::unexpected(cannot("make a certificate"));
    return as_pem(ca, *key);
}

tl::expected<Authority, std::string> Authority::open(std::string_view certificate,
                                                     std::string_view key) {
    auto found = certificates_in(certificate, OtherBlocks::skip);
    if (!found) return tl::unexpected("ca.pem " + found.error());
    auto own_key = private_key_in(key);
    if (!own_key) return tl::unexpected("ca.key " + own_key.error());
    X509& ca = *found->front();
    if (X509_check_ca(&ca) != 1)
        return tl::unexpected(std::string("ca.pem is not the certificate of a CA"));
    if (X509_check_private_key(&ca, own_key->get()) != 1)
        return tl::unexpected(std::string("ca.key is not the key of ca.pem"));
    if (X509_cmp_current_time(X509_get0_notAfter(&ca)) < 0)
        return tl::unexpected("ca.pem has expired on " + time_text(*X509_get0_notAfter(&ca)));
    std::string cluster = cluster_of(ca);
    return Authority(std::move(found->front()), std::move(*own_key), std::move(cluster));
}

std::string Authority::name() const {
    return name_text(*X509_get_subject_name(certificate_.get()));
}

std::string Authority::ends_before(std::int64_t days) const {
    const ASN1_TIME& last = *X509_get0_notAfter(certificate_.get());
    const OwnedTime asked = in_days(days);
    return asked && is_later(*asked, last) ? time_text(last) : std::string();
}

tl::expected<CertificateAndKey, std::string> Authority::issue(const std::string& cluster,
                                                              const Subject& subject,
                                                              Days days) const {
    const ASN1_TIME& last = *X509_get0_notAfter(certificate_.get());
    const OwnedTime asked = in_days(days.value_or(certificate_days));
    if (!asked) return tl::unexpected(cannot("read the clock"));
    const bool too_long = is_later(*asked, last);
    const OwnedPrivateKey key = generated_key();
    if (!key) return tl::unexpected(cannot("make a key"));
    const OwnedCertificate made = begun(*key);
    if (!made) return tl::unexpected(cannot("make a certificate"));
    X509& ca = *certificate_;
    const bool done = X509_set1_notAfter(made.get(), too_long ? &last : asked.get()) == 1 &&
                      set_name(*X509_get_subject_name(made.get()), cluster, subject.name) &&
                      X509_set_issuer_name(made.get(), X509_get_subject_name(&ca)) == 1 &&
                      add_extension(*made, ca, NID_subject_key_identifier, "hash") &&
                      add_extension(*made, ca, NID_authority_key_identifier, "keyid") &&
                      add_extension(*made, ca, NID_basic_constraints, "critical,CA:FALSE") &&
                      add_extension(*made, ca, NID_key_usage, "critical,digitalSignature") &&
                      add_extension(*made, ca, NID_ext_key_usage,
                                    subject.is_server ? "serverAuth,clientAuth" : "clientAuth") &&
                      add_extension(*made, ca, NID_subject_alt_name, "URI:" + subject.uri) &&
                      X509_sign(made.get(), key_.get(), digest_for(*key_)) > 0;
    if (!done) return tl::unexpected(cannot("make a certificate"));
    return as_pem(*made, *key);
}

bool Authority::has_signed(X509& certificate) const {
    return X509_verify(&certificate, key_.get()) == 1;
}

tl::expected<std::string, std::string> Authority::revocation_list(std::string_view earlier,
                                                                  const std::vector<X509*>& revoked,
                                                                  Days days) const {
    OwnedCrl before;
    if (!earlier.empty()) {
        auto lists = revocation_lists_in(earlier);
        if (!lists) return tl::unexpected("crl.pem " + lists.error());
        if (lists->size() > 1)
            return tl::unexpected(std::string("crl.pem has several lists; expected this CA's"));
        if (X509_CRL_verify(lists->front().get(), key_.get()) != 1)
            return tl::unexpected(std::string("crl.pem is not a list that this CA has signed"));
        before = std::move(lists->front());
    }
    const ASN1_TIME& last = *X509_get0_notAfter(certificate_.get());
    const OwnedTime asked = days ? in_days(*days) : nullptr;
    const OwnedTime now = in_days(0);
    const OwnedTime begin = a_little_ago();
    const OwnedCrl list(X509_CRL_new());
    bool done =
        list && now && begin && X509_CRL_set_version(list.get(), version_2) == 1 &&
        X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate_.get())) == 1 &&
        X509_CRL_set1_lastUpdate(list.get(), begin.get()) == 1 &&
        X509_CRL_set1_nextUpdate(list.get(), asked ? asked.get() : &last) == 1;
    STACK_OF(X509_REVOKED)* const known = before ? X509_CRL_get_REVOKED(before.get()) : nullptr;
    for (int i = 0; done && i < sk_X509_REVOKED_num(known); ++i) {
        const X509_REVOKED* const one = sk_X509_REVOKED_value(known, i);
        done = add_revoked(*list, *X509_REVOKED_get0_serialNumber(one),
                           *X509_REVOKED_get0_revocationDate(one));
    }
    for (X509* const certificate : revoked)
        done = done && add_revoked(*list, *X509_get0_serialNumber(certificate), *now);
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate_.get(), nullptr, nullptr, list.get(), 0);
    X509V3_set_ctx_nodb(&context);
    const OwnedExtension issuer(
        X509V3_EXT_nconf_nid(nullptr, &context, NID_authority_key_identifier, "keyid"));
    done = done && issuer && X509_CRL_add_ext(list.get(), issuer.get(), -1) == 1 &&
           set_number(*list, before.get()) && X509_CRL_sort(list.get()) == 1 &&
           X509_CRL_sign(list.get(), key_.get(), digest_for(*key_)) > 0;
    if (!done) return tl::unexpected(cannot("make a revocation list"));
    return to_pem(*list);
}

}  // namespace bullring
