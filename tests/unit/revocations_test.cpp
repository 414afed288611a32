// Certificates stay revoked: a list of revocations takes the place of an older one only.
#include "src/security/revocations.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/os/private_file.hpp"
#include "src/base/text/text.hpp"
#include "src/security/trust.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::revocations_test {

using namespace bullring::test;

namespace {

std::vector<OwnedCrl> only(OwnedCrl list) {
    std::vector<OwnedCrl> lists;
    lists.push_back(std::move(list));
    return lists;
}

/// Two CAs of one name, one of which is trusted at first.
struct Lists {
    Lists() { trusted.push_back(copy_of(ca.certificate())); }

    bool is_older(const ListWish& one, const ListWish& other) const {
        return bullring::is_older(*ca.revoke(nobody, one), *ca.revoke(nobody, other), trusted);
    }

    const TestCa ca;
    const TestCa next;
    const Credentials nobody = ca.node(9);
    std::vector<OwnedCertificate> trusted;
};

}  // namespace

TEST_CASE("revocations: the number says which list is older, and without one its time") {
    const Lists lists;
    CHECK(lists.is_older({.number = 4}, {.number = 5}));
    CHECK(!lists.is_older({.number = 5}, {.number = 5}));
    CHECK(!lists.is_older({.number = 6}, {.number = 5}));
    CHECK(lists.is_older({.number = 255}, {.number = 256}));
    CHECK(lists.is_older({.number = 4, .from_hours = -1}, {.number = 5, .from_hours = -2}));
    CHECK(lists.is_older({.from_hours = -2}, {.from_hours = -1}));
    CHECK(!lists.is_older({.from_hours = -1}, {.from_hours = -1}));
    CHECK(lists.is_older({.number = 7, .from_hours = -2}, {.from_hours = -1}));
    CHECK(!lists.is_older({.from_hours = -1}, {.number = 7, .from_hours = -2}));
}

TEST_CASE("revocations: another CA of the same name has an order of its own") {
    Lists lists;
    const auto old = only(lists.ca.revoke(lists.nobody, {.number = 5}));
    const auto fresh = only(lists.next.revoke(lists.nobody, {.number = 1}));
    lists.trusted.push_back(copy_of(lists.next.certificate()));
    CHECK(!is_older(*fresh.front(), *old.front(), lists.trusted));
    lists.trusted.erase(lists.trusted.begin());
    CHECK(!is_older(*fresh.front(), *old.front(), lists.trusted));
    CHECK(setback(fresh, old, lists.trusted).empty());  // and the last CA may go with its list
}

TEST_CASE("revocations: a list goes only with its CA") {
    const Lists lists;
    const auto old = only(lists.ca.revoke(lists.nobody, {.number = 5}));
    const std::string why = setback({}, old, lists.trusted);
    CHECK(why.find("has no list of a CA whose list 5 of \"/CN=test CA\" of ") == 0);
    CHECK(setback({}, old, {}).empty());
}

TEST_CASE("revocations: of several lists in a file the newest counts, also when its time is over") {
    const Lists lists;
    const Credentials revoked = lists.ca.node(1);
    std::vector<OwnedCrl> both = only(lists.ca.revoke(revoked, {.number = 5, .to_hours = -1}));
    both.push_back(lists.ca.revoke(lists.nobody, {.number = 4}));
    const OwnedStore store = trust_store(lists.trusted, both);
    const OwnedStoreContext context(X509_STORE_CTX_new());
    X509_STORE_CTX_init(context.get(), store.get(), revoked.chain.front().get(), nullptr);
    X509_STORE_CTX_set_verify_cb(context.get(), &forgive_old_revocations);
    CHECK(X509_verify_cert(context.get()) != 1);
    CHECK(X509_STORE_CTX_get_error(context.get()) == X509_V_ERR_CERT_REVOKED);
}

TEST_CASE("revocations: an older list than the one in use is refused, and taken at a start") {
    const Lists lists;
    const TemporaryDirectory directory;
    const Credentials mine = lists.ca.node(1);
    const auto write = [&](const char* name, const std::string& text) {
        REQUIRE(replace_file(directory / name, text, secret_mode).has_value());
        return directory / name;
    };
    SecurityOptions options;
    options.mode = SecurityMode::tls;
    options.certificate_file = write("cert", pem_of(mine.chain.front()));
    options.private_key_file = write("key", pem_of(mine.private_key));
    options.ca_file = write("ca", pem_of(lists.ca.certificate()));
    const auto load = [&](const ListWish& wish, const Credentials* in_use) {
        options.crl_file = write("crl", pem_of(lists.ca.revoke(lists.nobody, wish)));
        return load_credentials(options, {"blue", protocol::NodeId{1}}, in_use);
    };
    const auto in_use = load({.number = 5}, nullptr);
    REQUIRE(in_use.has_value());
    CHECK(load({.number = 5}, &*in_use).has_value());
    CHECK(load({.number = 6, .from_hours = -3}, &*in_use).has_value());
    const auto older = load({.number = 4}, &*in_use);
    REQUIRE(!older.has_value());
    REQUIRE(older.error().size() == 1);
    const CredentialProblem& problem = older.error().front();
    CHECK(problem.file == options.crl_file);
    CHECK(problem.what.find("has list 4 of \"/CN=test CA\" of ") == 0);
    CHECK(problem.what.find("Z, which is older: list 5 of \"/CN=test CA\" of ") !=
          std::string::npos);
    CHECK(problem.what.find("is in use; expected that one or a newer one") != std::string::npos);
    CHECK(load({.number = 4}, nullptr).has_value());
}

}  // namespace bullring::revocations_test
