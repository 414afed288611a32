// Tests the options of security: when it has to be named, and which files belong to which mode.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "src/base/os/private_file.hpp"
#include "src/security/key_file.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/parsed_options.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::options_security_test {

using namespace bullring::test;

namespace {

constexpr const char* here = "1=127.0.0.1:1,2=localhost:2,3=[::1]:3";
constexpr const char* elsewhere = "1=10.0.0.1:1,2=10.0.0.2:2,3=10.0.0.3:3";

/// Nothing is said of security by the environment.
ParsedOptions parsed(const Words& words) { return parse_options(words, home_only); }

NodeOptions options_from(const Words& words) {
    const ParsedOptions options = parsed(words);
    const auto* found = found_options<NodeOptions>(options);
    REQUIRE(found != nullptr);
    return *found;
}

std::vector<std::string> wrong(const Words& words) {
    const ParsedOptions options = parsed(words);
    const auto* usage = std::get_if<UsageProblems>(&options);
    return usage == nullptr ? std::vector<std::string>{} : usage->problems;
}

Words node(const char* peers, const Words& more = {}) {
    return with({"node", "--id", "1", "--peers", peers}, more);
}

/// A file that its owner alone can read.
struct PrivateFile {
    explicit PrivateFile(std::string_view text) : file(std::string(text)) {
        ::chmod(file.path().c_str(), 0600);
    }
    TemporaryFile file;
};

}  // namespace

TEST_CASE("options: on loopback alone there is no security unless it is asked for") {
    const NodeOptions options = options_from(node(here));
    CHECK(options.security == SecurityOptions{});
    CHECK(options.start_notes.empty());
}

TEST_CASE("options: off loopback the security has to be named, with a line that shows how") {
    for (const Words& words : {node(elsewhere), Words{"status", "--peers", elsewhere},
                               Words{"resign", "--peers", "1=127.0.0.1:1,2=db2:2"}}) {
        const auto problems = wrong(words);
        REQUIRE(problems.size() == 1);
        CHECK(one_has(problems, "--security: it is missing"));
        CHECK(one_has(problems, "is not an address of loopback; expected key, tls or none"));
        CHECK(one_has(problems,
                      "bullring key new --out cluster.key; then --security key "
                      "--key-file cluster.key"));
    }
    CHECK(one_has(wrong(node(elsewhere, {"--security", "ssl"})),
                  "\"ssl\" is not one of none, key, tls"));
}

TEST_CASE("options: no security off loopback is a warning at the start") {
    CHECK(one_has(options_from(node(elsewhere, {"--security", "none"})).start_notes,
                  "security none: whoever reaches"));
}

TEST_CASE("options: so is a port that is reached from elsewhere, and a migration") {
    const auto notes = [](const Words& words) { return options_from(words).start_notes; };
    CHECK(one_has(notes(node(here, {"--listen", "0.0.0.0:1"})), "security none: whoever reaches"));
    CHECK(notes(node(here, {"--listen", "127.0.0.2:1"})).empty());
    const PrivateFile key(line_of(key_of(1)).view());
    const Words secured{"--security", "key", "--key-file", key.file.path()};
    CHECK(notes(node(elsewhere, secured)).empty());
    CHECK(one_has(notes(node(elsewhere, with(secured, {"--security-migrate"}))),
                  "security-migrate: whoever reaches"));
}

TEST_CASE("options: the files of a mode are needed, and belong to no other") {
    CHECK(one_has(wrong(node(here, {"--security", "key"})), "--key-file: it is missing"));
    const auto lacks = wrong(node(here, {"--security", "tls"}));
    CHECK(lacks.size() == 3);
    for (const char* flag : {"--tls-cert", "--tls-key", "--tls-ca"})
        CHECK(one_has(lacks, std::string(flag) + ": it is missing; expected FILE"));
    CHECK(wrong(node(here, {"--key-file", "a"})) ==
          std::vector<std::string>{"--key-file: it needs --security key"});
    CHECK(one_has(wrong(node(here, {"--security", "key", "--tls-crl", "a"})),
                  "--tls-crl: it needs --security tls"));
    CHECK(one_has(wrong(node(here, {"--security-migrate"})),
                  "--security-migrate: it needs --security key or tls"));
}

TEST_CASE("options: what is wrong with a file is said with its name") {
    CHECK(one_has(wrong(node(here, {"--security", "key", "--key-file", "/nowhere/k"})),
                  "--key-file: \"/nowhere/k\" cannot be read: No such file"));
    const PrivateFile rubbish("rubbish\n");
    CHECK(one_has(wrong(node(here, {"--security", "key", "--key-file", rubbish.file.path()})),
                  "\" line 1 is no key"));
    const PrivateFile sound(line_of(key_of(1)).view());
    CHECK(wrong(node(here, {"--security", "key", "--key-file", sound.file.path()})).empty());
    // Whose end a FIN tells is nobody's to know where it can be forged.
    const auto release_of = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--security", "key", "--key-file", sound.file.path()});
        return options_from(node(here, more)).config.fast_release;
    };
    CHECK(release_of({}) == protocol::FastRelease::notice);
    CHECK(release_of({"--fast-release", "off"}) == protocol::FastRelease::off);
    CHECK(one_has(wrong(node(here, {"--security", "key", "--key-file", sound.file.path(),
                                    "--fast-release", "fin"})),
                  "--fast-release: \"fin\" can't be used with security key"));
    CHECK(one_has(wrong(node(here, {"--security", "key", "--key-file", sound.file.path(),
                                    "--observer-key-file", sound.file.path()})),
                  "has a key of the members, too"));
    ::chmod(sound.file.path().c_str(), 0644);
    CHECK(one_has(wrong(node(here, {"--security", "key", "--key-file", sound.file.path()})),
                  "can be read or changed by others"));
}

TEST_CASE(
    "options: a start waits for what time or another program may mend, and for nothing else") {
    const auto waits = [](const Words& words) {
        const ParsedOptions options = parsed(words);
        const auto* usage = std::get_if<UsageProblems>(&options);
        REQUIRE(usage != nullptr);
        return usage->pass;
    };
    const auto keyed = [](const std::string& file, const Words& more = {}) {
        return with(node(here, {"--security", "key", "--key-file", file}), more);
    };
    const PrivateFile empty("");
    const PrivateFile rubbish("rubbish\n");
    const PrivateFile open_to_all(line_of(key_of(1)).view());
    ::chmod(open_to_all.file.path().c_str(), 0644);
    CHECK(waits(keyed("/nowhere/k")));
    CHECK(waits(keyed(empty.file.path())));
    CHECK_FALSE(waits(keyed(rubbish.file.path())));
    CHECK_FALSE(waits(keyed(open_to_all.file.path())));
    CHECK_FALSE(waits(keyed("/")));
    CHECK_FALSE(waits(keyed("/nowhere/k", {"--check"})));
    CHECK_FALSE(waits(keyed("/nowhere/k", {"--lease", "5"})));
    CHECK_FALSE(waits(keyed("/nowhere/k", {"--config", "/nowhere/c"})));
    CHECK_FALSE(waits({"status", "--peers", here, "--security", "key", "--key-file", "/nowhere"}));
    CHECK(waits({"node", "--id", "1", "--peers", "@/nowhere"}));
    CHECK_FALSE(waits({"node", "--id", "1", "--peers", "@/"}));
    CHECK_FALSE(waits({"node", "--id", "1", "--peers", "@" + rubbish.file.path()}));
    CHECK(waits({"run", "--id", "1", "--peers", "@/nowhere", "--", "true"}));

    const TestCa ca;
    const TestCa other;
    const Credentials mine = ca.node(1, "bullring");
    const PrivateFile certificate(pem_of(mine.chain.front()));
    const PrivateFile key(pem_of(mine.private_key));
    const PrivateFile others_key(pem_of(ca.node(1, "bullring").private_key));
    const PrivateFile second(pem_of(ca.node(2, "bullring").chain.front()));
    const PrivateFile of_ca(pem_of(ca.certificate()));
    const PrivateFile of_other(pem_of(other.certificate()));
    const auto tls = [](const PrivateFile& cert, const PrivateFile& its_key,
                        const PrivateFile& its_ca) {
        return node(here, {"--security", "tls", "--tls-cert", cert.file.path(), "--tls-key",
                           its_key.file.path(), "--tls-ca", its_ca.file.path()});
    };
    CHECK(waits(tls(certificate, others_key, of_ca)));
    CHECK(waits(tls(certificate, key, of_other)));
    CHECK_FALSE(waits(tls(second, key, of_ca)));
    CHECK_FALSE(waits(tls(certificate, key, rubbish)));
}

TEST_CASE("options: who may only ask has either of the keys") {
    const PrivateFile key(line_of(key_of(1)).view());
    for (const char* flag : {"--key-file", "--observer-key-file"})
        CHECK(
            wrong({"status", "--peers", here, "--security", "key", flag, key.file.path()}).empty());
    CHECK(one_has(wrong(node(here, {"--security", "key", "--observer-key-file", key.file.path()})),
                  "--key-file: it is missing"));
}

TEST_CASE("options: a certificate has to be this node's, of that CA, with its key") {
    const TestCa ca;
    const TestCa other;
    const Credentials mine = ca.node(1, "bullring");
    const Credentials second = ca.node(2, "bullring");
    const PrivateFile certificate(pem_of(mine.chain.front()));
    const PrivateFile key(pem_of(mine.private_key));
    const PrivateFile of_ca(pem_of(ca.certificate()));
    const PrivateFile of_other(pem_of(other.certificate()));
    const PrivateFile second_certificate(pem_of(second.chain.front()));
    const auto with_files = [](const PrivateFile& cert, const PrivateFile& its_key,
                               const PrivateFile& its_ca) {
        return wrong(node(here, {"--security", "tls", "--tls-cert", cert.file.path(), "--tls-key",
                                 its_key.file.path(), "--tls-ca", its_ca.file.path()}));
    };
    CHECK(with_files(certificate, key, of_ca) == std::vector<std::string>{});
    CHECK(one_has(with_files(certificate, key, of_other), "is not signed by a CA of"));
    const auto wrong_node = with_files(second_certificate, key, of_ca);
    CHECK(one_has(wrong_node, "is for node 2; expected one for bullring://bullring/node/1"));
    CHECK(one_has(wrong_node, "is not the key of"));
    CHECK(one_has(with_files(certificate, key, certificate), "has a certificate that is no CA's"));
    CertificateWish admin;
    admin.uris = {"bullring://bullring/admin"};
    admin.server = false;
    const Credentials of_admin = ca.issue(admin);
    CHECK(one_has(with_files(PrivateFile(pem_of(of_admin.chain.front())),
                             PrivateFile(pem_of(of_admin.private_key)), of_ca),
                  "is for an administrator; expected one for bullring://bullring/node/1"));
    ::chmod(of_ca.file.path().c_str(), 0666);
    CHECK(one_has(with_files(certificate, key, of_ca),
                  "can be changed by others than its owner (mode 0666); expected a file that its "
                  "owner alone can change (chmod 644)"));
    ::chmod(of_ca.file.path().c_str(), 0644);
    CHECK(one_has(with_files(key, certificate, of_ca), "has no certificate; expected one in PEM"));
    CHECK(one_has(with_files(key, certificate, of_ca), "has no private key; expected one in PEM"));

    CertificateWish weak;
    weak.uris = {"bullring://bullring/node/1"};
    weak.rsa_bits = 1024;
    const Credentials short_key = ca.issue(weak);
    CHECK(one_has(with_files(PrivateFile(pem_of(short_key.chain.front())),
                             PrivateFile(pem_of(short_key.private_key)), of_ca),
                  "its key is too short for this machine's OpenSSL; expected RSA with 2048"));
    weak.rsa_bits = 0;
    weak.key_usage = "critical,dataEncipherment";
    const Credentials no_signer = ca.issue(weak);
    CHECK(one_has(with_files(PrivateFile(pem_of(no_signer.chain.front())),
                             PrivateFile(pem_of(no_signer.private_key)), of_ca),
                  "its certificate has a key usage without digitalSignature"));
    const std::string bundle = pem_of(ca.certificate()) + pem_of(other.certificate());
    CHECK(one_has(with_files(certificate, key, PrivateFile(bundle.substr(0, bundle.size() - 40))),
                  "\" is cut off: it ends within the CERTIFICATE of line "));

    CertificateWish late;
    late.uris = {"bullring://bullring/node/1"};
    late.from_hours = -3;
    late.to_hours = -1;
    const Credentials expired = ca.issue(late);
    CertificateWish early = late;
    early.from_hours = 1;
    early.to_hours = 3;
    // A node starts and waits for its time, or for another one. A caller has no time to wait.
    for (const CertificateWish& wish : {late, early}) {
        const Credentials one = ca.issue(wish);
        CHECK(with_files(PrivateFile(pem_of(one.chain.front())),
                         PrivateFile(pem_of(one.private_key)),
                         of_ca) == std::vector<std::string>{});
    }
    late.uris = {"bullring://bullring/observer"};
    const Credentials asks = ca.issue(late);
    const PrivateFile asks_certificate(pem_of(asks.chain.front()));
    const PrivateFile asks_key(pem_of(asks.private_key));
    CHECK(one_has(wrong({"status", "--peers", here, "--security", "tls", "--tls-cert",
                         asks_certificate.file.path(), "--tls-key", asks_key.file.path(),
                         "--tls-ca", of_ca.file.path()}),
                  "would be refused by the others: its certificate has expired"));

    // While it is in use, whom it lets in may change all the same.
    const PrivateFile expired_certificate(pem_of(expired.chain.front()));
    const PrivateFile expired_key(pem_of(expired.private_key));
    SecurityOptions options;
    options.mode = SecurityMode::tls;
    options.certificate_file = expired_certificate.file.path();
    options.private_key_file = expired_key.file.path();
    options.ca_file = of_ca.file.path();
    const Bearer bearer{"bullring", protocol::NodeId{1}};
    CHECK(load_credentials(options, bearer, &expired).has_value());
    CHECK(!load_credentials(options, bearer, &mine).has_value());
}

}  // namespace bullring::options_security_test
