#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <openssl/x509v3.h>

#include "src/cli/credentials/authority.hpp"
#include "src/cli/credentials/key_lines.hpp"
#include "src/cli/credentials/pem.hpp"
#include "src/security/certificate_text.hpp"
#include "src/security/pem_text.hpp"

namespace bullring::credentials_test {

namespace {

std::string line(const Key& key) { return std::string(line_of(key).view()); }

/// A CA of the cluster blue for these many days.
Authority authority(std::int64_t days = 100) {
    const auto made = Authority::make("blue", days).value();
    return Authority::open(made.certificate, made.key.view()).value();
}

const Subject third{"bullring://blue/node/3", "node 3", true};

OwnedCertificate certificate_of(const Authority& ca, Days days = {}) {
    const auto made = ca.issue("blue", third, days).value();
    return std::move(certificates_in(made.certificate).value().front());
}

}  // namespace

TEST_CASE("key lines: a key is added last, used first, and then the old one goes") {
    const Key old = new_key().value();
    const Key fresh = new_key().value();
    const std::string begin = "# blue\n\n" + line(old);
    const auto added = with_key_added(begin + "# end", fresh);
    CHECK(added.value().view() == begin + "# end\n" + line(fresh));
    const auto used = with_key_first(added->view(), fresh.id);
    CHECK(used.value().view() == "# blue\n\n" + line(fresh) + line(old) + "# end\n");
    CHECK(with_key_first(used->view(), fresh.id).value().view() == used->view());
    CHECK(without_key(used->view(), old.id).value().view() ==
          "# blue\n\n" + line(fresh) + "# end\n");
}

TEST_CASE("key lines: the first key is not removed, nor one that is not there") {
    const Key one = new_key().value();
    CHECK_FALSE(without_key(line(one), one.id).has_value());
    CHECK(without_key(line(one), "01234567").error() ==
          "has no key \"01234567\"; expected one of " + one.id);
    CHECK_FALSE(with_key_first(line(one), "01234567").has_value());
}

TEST_CASE("key lines: a ninth key is not added") {
    std::string text;
    for (std::size_t i = 0; i < keys_max; ++i) text += line(new_key().value());
    CHECK(with_key_added(text, new_key().value()).error() ==
          "has no room for another key: with it, it has 9 keys; expected at most 8");
}

TEST_CASE("authority: a certificate bears the one URI, and is for clients and, of nodes, servers") {
    const Authority ca = authority();
    CHECK(ca.cluster() == "blue");
    const OwnedCertificate node = certificate_of(ca);
    CHECK(uris_of(*node) == std::vector<std::string>{third.uri});
    CHECK(ca.has_signed(*node));
    CHECK(X509_get_extended_key_usage(node.get()) == (XKU_SSL_SERVER | XKU_SSL_CLIENT));
    const auto admin = ca.issue("blue", {"bullring://blue/admin", "admin", false}, {}).value();
    CHECK(X509_get_extended_key_usage(certificates_in(admin.certificate).value().front().get()) ==
          XKU_SSL_CLIENT);
    CHECK_FALSE(authority().has_signed(*node));
}

TEST_CASE("authority: two CAs of one cluster have different names") {
    const std::string name = authority().name();
    CHECK(name.starts_with("O=blue, CN=bullring CA "));
    CHECK(name != authority().name());
}

TEST_CASE("authority: no certificate outlives its CA") {
    const Authority ca = authority(100);
    CHECK(ca.ends_before(99).empty());
    CHECK_FALSE(ca.ends_before(102).empty());
    const OwnedCertificate of_100_days = certificate_of(ca, 102);
    CHECK(time_text(*X509_get0_notAfter(of_100_days.get())) == ca.ends_before(102));
    const Authority longer = authority(1000);
    const OwnedCertificate of_a_year = certificate_of(longer);
    int days = 0;
    int seconds = 0;
    REQUIRE(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(of_a_year.get()),
                           X509_get0_notAfter(of_a_year.get())) == 1);
    CHECK(days == 365);
    CHECK(seconds == 300);
}

TEST_CASE("authority: a list keeps what earlier ones have, and takes a certificate once") {
    const Authority ca = authority();
    const OwnedCertificate one = certificate_of(ca);
    const OwnedCertificate other = certificate_of(ca);
    const auto first = ca.revocation_list("", {one.get()}, {}).value();
    const auto second = ca.revocation_list(first, {one.get(), other.get()}, 7).value();
    const auto lists = revocation_lists_in(second).value();
    CHECK(sk_X509_REVOKED_num(X509_CRL_get_REVOKED(lists.front().get())) == 2);
    CHECK_FALSE(authority().revocation_list(first, {}, {}).has_value());
    CHECK_FALSE(ca.revocation_list("nothing", {}, {}).has_value());
}

TEST_CASE("authority: what does not fit together is no CA") {
    const auto one = Authority::make("blue", {});
    const auto other = Authority::make("blue", {});
    REQUIRE(one.has_value());
    REQUIRE(other.has_value());
    CHECK(Authority::open(one->certificate, other->key.view()).error() ==
          "ca.key is not the key of ca.pem");
    CHECK_FALSE(Authority::open("", one->key.view()).has_value());
    CHECK_FALSE(Authority::open(one->certificate, "").has_value());
    const auto leaf = authority().issue("blue", third, {}).value();
    CHECK(Authority::open(leaf.certificate, leaf.key.view()).error() ==
          "ca.pem is not the certificate of a CA");
}

}  // namespace bullring::credentials_test
