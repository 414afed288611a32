#include "src/security/pem_text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/support/credentials.hpp"

namespace bullring::pem_text_test {

using test::pem_of;

namespace {

std::string one_certificate() { return pem_of(test::TestCa().certificate()); }

std::string problem_of(std::string_view text, OtherBlocks others = OtherBlocks::refuse) {
    const auto found = certificates_in(text, others);
    return found ? std::string("none: " + std::to_string(found->size())) : found.error();
}

std::size_t lines_of(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string line(std::size_t number, const std::string& rest) {
    return "line " + std::to_string(number) + " " + rest;
}

}  // namespace

TEST_CASE("pem text: all blocks are read, with remarks between them and any ends of lines") {
    const std::string one = one_certificate();
    std::string with_returns;
    for (const char c : one_certificate()) with_returns += c == '\n' ? " \r\n" : std::string(1, c);
    const auto found =
        certificates_in("subject=/CN=a -- b\n\n" + one + "# next:\n" + with_returns).value();
    CHECK(found.size() == 2);
    CHECK(certificates_in(one.substr(0, one.size() - 1)).has_value());
}

TEST_CASE("pem text: a bundle that was cut off anywhere is refused, or what is left is whole") {
    const std::string one = one_certificate();
    const std::string both = one + one_certificate();
    for (std::size_t size = 1; size + 1 < both.size(); ++size) {
        CAPTURE(size);
        const std::string head = both.substr(0, size);
        const auto found = certificates_in(head);
        if (!found) continue;
        CHECK(found->size() == 1);
        // Less than the begin of the second one is a remark.
        CHECK(size + 1 >= one.size());
        CHECK(size <= one.size() + std::string_view("-----BEGIN ").size());
    }
    CHECK(problem_of(both.substr(0, both.size() - 30)).starts_with("is cut off: it ends within"));
    CHECK(problem_of(both.substr(30)) ==
          line(lines_of(one) - 1, "ends a CERTIFICATE that has no begin"));
}

TEST_CASE("pem text: blocks that were glued together are refused by their line") {
    std::string one = one_certificate();
    const std::size_t last = lines_of(one);
    one.pop_back();  // as a file without an end of its last line
    CHECK(
        problem_of(one + one_certificate()).starts_with(line(last, "is no -----END CERTIFICATE")));
    const std::string begin = "-----BEGIN CERTIFICATE-----\n";
    CHECK(problem_of(begin + one).starts_with(line(2, "is no -----END CERTIFICATE-----")));
    // Both marks between them are lost.
    const std::string end = "-----END CERTIFICATE-----";
    const std::string body = one.substr(begin.size(), one.size() - begin.size() - end.size());
    CHECK_FALSE(certificates_in(begin + body + body + end).has_value());
}

TEST_CASE("pem text: damage is told by its line") {
    const std::string one = one_certificate();
    std::string other = one_certificate();
    other[other.find('\n') + 80] = '!';
    CHECK(problem_of(one + other) == line(lines_of(one) + 3,
                                          "is no base64, within the CERTIFICATE "
                                          "of line ") +
                                         std::to_string(lines_of(one) + 1));
    std::string dashes = one_certificate();
    dashes.erase(0, 1);
    CHECK(problem_of(one + dashes).starts_with(line(lines_of(one) + 1, "is damaged; expected")));
    std::string bytes = one_certificate();
    bytes[bytes.find('\n') + 5] = bytes[bytes.find('\n') + 5] == 'A' ? 'B' : 'A';
    CHECK(problem_of(bytes).starts_with("has on line 1 a CERTIFICATE that is damaged: "));
    CHECK(problem_of("\x30\x82\x01\x02").find("this is binary (DER, PKCS #12)") !=
          std::string::npos);
    CHECK(problem_of("nothing") == "has no certificate; expected one in PEM");
}

TEST_CASE("pem text: a block of another kind is not passed over in silence") {
    const test::TestCa ca;
    const std::string certificate = pem_of(ca.certificate());
    const std::string list = pem_of(ca.revoke(ca.node(1)));
    CHECK(problem_of(certificate + list) ==
          line(lines_of(certificate) + 1, "begins a X509 CRL; expected each to be a certificate"));
    CHECK(problem_of(certificate + list, OtherBlocks::skip) == "none: 1");
    const auto lists = revocation_lists_in(list + pem_of(ca.revoke(ca.node(2)))).value();
    CHECK(lists.size() == 2);
    CHECK(revocation_lists_in(list.substr(0, list.size() - 40))
              .error()
              .starts_with("is cut off: it ends within the X509 CRL of line 1"));
}

TEST_CASE("pem text: a file has one private key") {
    const test::TestCa ca;
    const std::string key = pem_of(ca.key());
    CHECK(private_key_in(pem_of(ca.certificate()) + key).has_value());
    CHECK(private_key_in(key + key).error().starts_with("has private keys on lines 1 and "));
    CHECK(private_key_in(pem_of(ca.certificate())).error() ==
          "has no private key; expected one in PEM");
}

}  // namespace bullring::pem_text_test
