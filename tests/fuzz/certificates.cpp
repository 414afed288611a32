// The files with certificates, a private key and revocations, as a member reads them and as
// `bullring cert` shows and uses them: any bytes, sound files that are changed at places, and sound
// ones of which the input chooses whom they name, what for, from when to when and who signs. They
// are credentials or reasons; a certificate is taken for what it says and what its CA has signed,
// and for nothing else; what is shown of it fits a terminal.
#include <algorithm>
#include <array>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "src/base/text/text.hpp"
#include "src/cli/credentials/authority.hpp"
#include "src/cli/credentials/description.hpp"
#include "src/cli/credentials/pem.hpp"
#include "src/security/pem_text.hpp"
#include "src/security/tls_context.hpp"
#include "src/security/trust.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/openssl_chance.hpp"
#include "tests/support/credentials.hpp"

using namespace bullring;
using fuzz::expect;

namespace {

const PeerIdentity self{PeerRole::member, {2}};
const std::string cluster = "blue";

/// Those who sign, and what they have signed for node 2.
struct Company {
    test::TestCa ca, stranger;
    Credentials mine = ca.node(2);
    // As files. OpenSSL takes longer to write them than all else takes.
    const std::string certificate = test::pem_of(mine.chain.front());
    const std::string key = test::pem_of(mine.private_key);
    const std::string ca_certificate = test::pem_of(ca.certificate());
    const std::string ca_key = test::pem_of(ca.key());
    const std::shared_ptr<const TlsContext> node =
        *TlsContext::make(ca.node(2), {cluster, self.id});
    const std::string revocations = test::pem_of(ca.revoke(ca.node(3)));

    static const Company& all() {
        static const Company made = (fuzz::without_chance(), Company());
        return made;
    }
};

std::string as_pem(const char* label, std::string_view bytes) {
    const OwnedBio memory(BIO_new(BIO_s_mem()));
    PEM_write_bio(memory.get(), label, "", reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<long>(bytes.size()));
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

std::string bytes_in(const std::string& pem) {
    const OwnedBio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    char* label = nullptr;
    char* head = nullptr;
    unsigned char* bytes = nullptr;
    long size = 0;
    expect(PEM_read_bio(text.get(), &label, &head, &bytes, &size) == 1, "no PEM of its own");
    std::string read(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(label);
    OPENSSL_free(head);
    OPENSSL_free(bytes);
    return read;
}

/// A sound file as it is, changed at places, or another one.
std::string file_of(fuzz::Input& input, const char* label, const std::string& sound) {
    switch (input.below(8)) {
        case 1: return std::string(input.long_text(4096));
        case 2: return as_pem(label, input.long_text(4096));
        case 3: {
            std::string bytes = bytes_in(sound);
            for (std::size_t times = 1 + input.below(4); times > 0; --times) {
                const std::size_t at = input.number<std::uint16_t>() % (bytes.size() + 1);
                bytes.replace(at, input.below(8), input.text(32));
            }
            return as_pem(label, bytes);
        }
        case 4: return sound + std::string(input.text(64)) + sound;
        default: return sound;
    }
}

// ---- A certificate of the input's choice.

struct Made {
    OwnedCertificate certificate;
    bool by_ca = false;
    bool client = false;
    bool server = false;
    bool early = false;
    bool over = false;
    std::vector<std::string> uris;
};

std::string name_of(fuzz::Input& input) {
    std::string name;
    if (!input.flag()) name = "bullring://" + std::string(input.one_of({"blue", "red", "blu"}));
    if (!input.flag())
        name += input.one_of({"/node/2", "/node/3", "/node/02", "/admin", "/observer"});
    if (input.flag()) name += input.text(64);
    return name;
}

void add_names(X509& to, fuzz::Input& input, Made& made) {
    GENERAL_NAMES* const names = sk_GENERAL_NAME_new_null();
    for (std::size_t count = (1 + input.below(4)) % 4; count > 0; --count) {
        const int kind = input.one_of({GEN_URI, GEN_URI, GEN_URI, GEN_DNS, GEN_EMAIL});
        const std::string text = name_of(input);
        ASN1_IA5STRING* const value = ASN1_IA5STRING_new();
        ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
        GENERAL_NAME* const name = GENERAL_NAME_new();
        GENERAL_NAME_set0_value(name, kind, value);
        sk_GENERAL_NAME_push(names, name);
        if (kind == GEN_URI) made.uris.push_back(text);
    }
    if (sk_GENERAL_NAME_num(names) > 0)
        X509_add1_ext_i2d(&to, NID_subject_alt_name, names, 0, X509V3_ADD_APPEND);
    GENERAL_NAMES_free(names);
}

void add_uses(X509& to, fuzz::Input& input, Made& made) {
    const std::size_t uses = input.below(8);
    made.client = (uses & 1U) == 0;
    made.server = (uses & 2U) == 0;
    EXTENDED_KEY_USAGE* const list = sk_ASN1_OBJECT_new_null();
    if (made.client) sk_ASN1_OBJECT_push(list, OBJ_nid2obj(NID_client_auth));
    if (made.server) sk_ASN1_OBJECT_push(list, OBJ_nid2obj(NID_server_auth));
    if ((uses & 4U) != 0) sk_ASN1_OBJECT_push(list, OBJ_nid2obj(NID_code_sign));
    if (sk_ASN1_OBJECT_num(list) > 0)
        X509_add1_ext_i2d(&to, NID_ext_key_usage, list, 0, X509V3_ADD_APPEND);
    sk_ASN1_OBJECT_free(list);
}

/// Whether it is in the past; nullopt: it may be no time at all.
std::optional<bool> set_time(ASN1_TIME* time, fuzz::Input& input, long usual_hours) {
    switch (input.below(8)) {
        case 1: X509_gmtime_adj(time, -2 * 3600L); return true;
        case 2: X509_gmtime_adj(time, 2 * 3600L); return false;
        case 3: {
            const std::string_view text = input.text(24);
            ASN1_STRING_set(time, text.data(), static_cast<int>(text.size()));
            time->type = input.flag() ? V_ASN1_UTCTIME : V_ASN1_GENERALIZEDTIME;
            return std::nullopt;
        }
        default: X509_gmtime_adj(time, usual_hours * 3600L); return usual_hours < 0;
    }
}

Made made_of(fuzz::Input& input, const Company& company) {
    Made made;
    made.certificate.reset(X509_new());
    X509& certificate = *made.certificate;
    X509_set_version(&certificate, 2);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(&certificate), 1000 + input.number());
    made.early = !set_time(X509_getm_notBefore(&certificate), input, -1).value_or(true);
    made.over = set_time(X509_getm_notAfter(&certificate), input, 24).value_or(false);
    const std::string_view subject = input.text(32);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(subject.data()),
                               static_cast<int>(subject.size()), -1, 0);
    X509_set_pubkey(&certificate, company.mine.private_key.get());
    add_names(certificate, input, made);
    add_uses(certificate, input, made);
    made.by_ca = !input.flag();
    (made.by_ca ? company.ca : company.stranger).sign(certificate);
    return made;
}

/// Whom it is taken for.
void check_named(const Made& made, const PeerIdentity& identity) {
    const auto named = [&](const std::string& uri) {
        return std::find(made.uris.begin(), made.uris.end(), uri) != made.uris.end();
    };
    const std::string taken = identity_uri(cluster, identity);
    expect(named(taken), "it is taken for one that it does not name");
    for (const char* who : {"/node/2", "/node/3", "/admin", "/observer"}) {
        const std::string other = "bullring://" + cluster + who;
        expect(other == taken || !named(other), "it is taken for one of two");
    }
    expect(made.by_ca, "another one's word is taken for the CA's");
}

void check_taken(const Made& made) {
    check_named(made, self);
    expect(made.client && made.server, "it is taken for what it is not for");
    expect(!made.early && !made.over, "it is taken at the wrong time");
}

// ---- What is done with the files.

struct Files {
    std::string certificate, key, ca, revocations;
};

/// nullopt: refused.
std::optional<Credentials> loaded(const Files& files) {
    static const std::array<fuzz::MemoryFile, 4> places;
    SecurityOptions options;
    options.mode = SecurityMode::tls;
    const auto put = [](const fuzz::MemoryFile& place, const std::string& text) {
        place.hold(text);
        return place.path();
    };
    options.certificate_file = put(places[0], files.certificate);
    options.private_key_file = put(places[1], files.key);
    options.ca_file = put(places[2], files.ca);
    if (!files.revocations.empty()) options.crl_file = put(places[3], files.revocations);
    auto credentials = load_credentials(options, {cluster, self.id});
    expect(ERR_peek_error() == 0, "an error is left to whoever comes next");
    if (credentials) return std::move(*credentials);
    expect(!credentials.error().empty(), "refused without a reason");
    for (const CredentialProblem& problem : credentials.error())
        expect(!problem.what.empty() && to_text(problem) == one_line(to_text(problem)),
               "a problem that a terminal would obey");
    return std::nullopt;
}

void check_use(Credentials credentials) {
    const OwnedCertificate mine = test::copy_of(credentials.chain.front());
    for (const TlsSide side : {TlsSide::dialler, TlsSide::acceptor})
        expect(identity_in(*mine, cluster, side) == self, "taken for another one");
    expect(TlsContext::make(std::move(credentials), {cluster, self.id}).has_value(),
           "credentials that OpenSSL does not take");
}

void check_lines(std::string_view text) {
    expect(text.ends_with('\n'), "a description without an end");
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        expect(line == one_line(line), "a description that a terminal would obey");
        text.remove_prefix(line.size() + 1);
    }
}

void check_shown(const Files& files) {
    const auto shown = certificates_in(files.certificate);
    if (!shown) expect(shown.error() == one_line(shown.error()), "a problem that a terminal obeys");
    for (std::size_t i = 0; shown && i < shown->size(); ++i) {
        const OwnedCertificate& one = (*shown)[i];
        check_lines(description(*one));
        const auto again = certificates_in(to_pem(*one));
        expect(again && again->size() == 1 && X509_cmp(again->front().get(), one.get()) == 0,
               "its own text is another certificate");
    }
    if (const auto lists = revocation_lists_in(files.revocations))
        for (const OwnedCrl& list : *lists) check_lines(description(*list));
}

/// As `bullring cert` opens its CA.
void check_authority(const Files& files) {
    const auto authority = Authority::open(files.ca, files.key);
    if (!authority) {
        expect(authority.error() == one_line(authority.error()),
               "a problem that a terminal would obey");
        return;
    }
    expect(authority->name() == one_line(authority->name()), "a name that a terminal would obey");
    const auto list = authority->revocation_list(files.revocations, {}, 1);
    expect(!list || revocation_lists_in(*list), "a list that nobody can read");
}

/// As the others judge it, who have no use for its private key: OpenSSL takes long to read one.
void check_judged(const Made& made, const Company& company) {
    const auto own = certificates_in(test::pem_of(made.certificate));
    expect(own.has_value(), "its own text is no certificate");
    for (const OwnedCertificate& one : *own) {
        check_lines(description(*one));
        const auto trusted = trusts(company.node->native(), *one, nullptr);
        for (const TlsSide side : {TlsSide::dialler, TlsSide::acceptor}) {
            const auto identity = identity_in(*one, cluster, side);
            if (!identity)
                expect(identity.error() == one_line(identity.error()),
                       "a problem that a terminal would obey");
            if (!identity || !trusted) continue;
            check_named(made, *identity);
            expect(side == TlsSide::dialler ? made.client : made.server,
                   "it is taken for what it is not for");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Company& company = Company::all();
    fuzz::random_numbers() = protocol::Rng(1);
    fuzz::Input input(data, size);
    std::optional<Made> made;
    if (input.flag()) made = made_of(input, company);
    if (made && input.below(4) != 1) {
        check_judged(*made, company);
        return 0;
    }
    Files files;
    files.certificate = made ? test::pem_of(made->certificate)
                             : file_of(input, PEM_STRING_X509, company.certificate);
    const bool of_ca = input.below(8) == 1;
    files.key = file_of(input, PEM_STRING_PKCS8INF, of_ca ? company.ca_key : company.key);
    files.ca = file_of(input, PEM_STRING_X509, company.ca_certificate);
    if (input.flag()) files.revocations = file_of(input, PEM_STRING_X509_CRL, company.revocations);
    check_shown(files);
    if (of_ca) {
        check_authority(files);
    } else if (auto credentials = loaded(files)) {
        if (made && files.ca == company.ca_certificate) check_taken(*made);
        check_use(std::move(*credentials));
    }
    return 0;
}
