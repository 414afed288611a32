#include "src/security/credentials.hpp"

#include <chrono>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "src/base/os/private_file.hpp"
#include "src/base/text/rfc3339.hpp"
#include "src/base/text/text.hpp"
#include "src/security/peer_identity.hpp"
#include "src/security/trust.hpp"

namespace bullring {

namespace {

/// Neither asks for a passphrase nor gives one.
int no_passphrase(char*, int, int, void*) { return 0; }

OwnedBio reader_of(std::string_view text) {
    return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// All that `read` finds in the text, one after the other.
template <class Owned, class Read>
std::vector<Owned> all_in(std::string_view text, Read read) {
    std::vector<Owned> found;
    const OwnedBio bio = reader_of(text);
    while (auto* const one = read(bio.get(), nullptr, &no_passphrase, nullptr))
        found.emplace_back(one);
    ERR_clear_error();  // the end of the text is reported as an error
    return found;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    return ::timegm(&parts);
}

class Loader {
public:
    Loader(const SecurityOptions& options, const Bearer& bearer, const X509* in_use)
        : options_(options), bearer_(bearer), in_use_(in_use) {}

    tl::expected<Credentials, std::vector<CredentialProblem>> load() {
        loaded_.mode = options_.mode;
        if (options_.mode == SecurityMode::key) load_keys();
        if (options_.mode == SecurityMode::tls) load_certificates();
        if (!problems_.empty()) return tl::unexpected(std::move(problems_));
        return std::move(loaded_);
    }

private:
    void say(const char* flag, const std::string& file, std::string what) {
        problems_.push_back({flag, file, std::move(what)});
    }

    // ---- Keys.

    void read_keys(const char* flag, const std::string& file, std::vector<Key>& into) {
        if (file.empty()) return;
        auto keys = read_key_file(file);
        if (keys)
            into = std::move(*keys);
        else
            for (std::string& problem : keys.error()) say(flag, file, std::move(problem));
    }

    void load_keys() {
        read_keys("key-file", options_.key_file, loaded_.keys);
        read_keys("observer-key-file", options_.observer_key_file, loaded_.observer_keys);
        for (const Key& key : loaded_.observer_keys)
            for (const Key& other : loaded_.keys)
                if (key.id == other.id)
                    say("observer-key-file", options_.observer_key_file,
                        "has a key of the members, too; expected keys of its own");
    }

    // ---- Certificates.

    template <class Owned, class Read>
    void read_pem(const char* flag, const std::string& file, const char* what, Read read,
                  std::vector<Owned>& into) {
        const auto text = read_regular_file(file);
        if (!text) return say(flag, file, text.error());
        into = all_in<Owned>(*text, read);
        if (into.empty()) say(flag, file, fmt::format("has no {}; expected one in PEM", what));
    }

    void read_private_key() {
        const auto text = read_private_file(options_.private_key_file);
        if (!text) return say("tls-key", options_.private_key_file, text.error());
        auto found = all_in<OwnedPrivateKey>(text->view(), &PEM_read_bio_PrivateKey);
        if (found.empty())
            return say("tls-key", options_.private_key_file,
                       "has no private key; expected one in PEM, without a passphrase");
        loaded_.private_key = std::move(found.front());
    }

    void load_certificates() {
        read_pem("tls-cert", options_.certificate_file, "certificate", &PEM_read_bio_X509,
                 loaded_.chain);
        read_private_key();
        read_pem("tls-ca", options_.ca_file, "certificate", &PEM_read_bio_X509,
                 loaded_.authorities);
        if (!options_.crl_file.empty())
            read_pem("tls-crl", options_.crl_file, "revocation list", &PEM_read_bio_X509_CRL,
                     loaded_.revocations);
        if (loaded_.chain.empty()) return;
        X509& mine = *loaded_.chain.front();
        loaded_.not_after = seconds_of(X509_get0_notAfter(&mine));
        if (loaded_.private_key && X509_check_private_key(&mine, loaded_.private_key.get()) != 1)
            say("tls-key", options_.private_key_file,
                "is not the key of " + in_quotes(options_.certificate_file) +
                    "; expected the one that was made with it");
        ERR_clear_error();
        check_identity(mine);
        if (all_are_authorities()) check_trusted(mine);
    }

    bool all_are_authorities() {
        for (const OwnedCertificate& one : loaded_.authorities) {
            if (X509_check_ca(one.get()) != 0) continue;
            say("tls-ca", options_.ca_file,
                "has a certificate that is no CA's; expected those of CAs alone");
            return false;
        }
        return !loaded_.authorities.empty();
    }

    void check_identity(const X509& mine) {
        auto identity = identity_in(mine, bearer_.cluster, TlsSide::dialler);
        const PeerIdentity self{PeerRole::member, bearer_.node};
        if (identity == self) identity = identity_in(mine, bearer_.cluster, TlsSide::acceptor);
        const std::string right =
            bearer_.node
                ? "expected one for " + identity_uri(bearer_.cluster, self)
                : "expected one for bullring://" + bearer_.cluster + "/admin or …/observer";
        if (!identity)
            say("tls-cert", options_.certificate_file,
                "is refused: " + identity.error() + "; " + right);
        else if (bearer_.node && *identity != self)
            say("tls-cert", options_.certificate_file,
                "is for " + bullring::to_text(*identity) + "; " + right);
    }

    /// As the others will judge it.
    void check_trusted(X509& mine) {
        const OwnedStore store = trust_store(loaded_.authorities, loaded_.revocations);
        const OwnedStoreContext context(X509_STORE_CTX_new());
        STACK_OF(X509)* const between = sk_X509_new_null();
        for (const OwnedCertificate& one : loaded_.chain) sk_X509_push(between, one.get());
        X509_STORE_CTX_init(context.get(), store.get(), &mine, between);
        X509_STORE_CTX_set_verify_cb(context.get(), &forgive_old_revocations);
        if (in_use_ != nullptr && X509_cmp(&mine, in_use_) == 0)
            X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context.get()),
                                        X509_V_FLAG_NO_CHECK_TIME);
        const int trusted = X509_verify_cert(context.get());
        const int error = X509_STORE_CTX_get_error(context.get());
        sk_X509_free(between);
        ERR_clear_error();
        if (trusted == 1) return;
        if (error == X509_V_ERR_UNABLE_TO_GET_CRL)
            return say("tls-crl", options_.crl_file,
                       "has no list of the CA that has signed " +
                           in_quotes(options_.certificate_file) + "; expected one of each CA of " +
                           in_quotes(options_.ca_file));
        const std::string why = why_not_trusted(error);
        std::string text = "would be refused by the others: " + why;
        if (why == why_not_trusted(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY))
            text = "is not signed by a CA of " + in_quotes(options_.ca_file) +
                   "; expected the CA that has signed it";
        if (error == X509_V_ERR_CERT_HAS_EXPIRED)
            text += " on " + std::string(Rfc3339(std::chrono::seconds(loaded_.not_after)).date()) +
                    "; expected a new one";
        say("tls-cert", options_.certificate_file, text);
    }

    const SecurityOptions& options_;
    const Bearer& bearer_;
    const X509* in_use_;
    Credentials loaded_;
    std::vector<CredentialProblem> problems_;
};

}  // namespace

std::string to_text(const CredentialProblem& problem) {
    return in_quotes(problem.file) + " " + problem.what;
}

tl::expected<Credentials, std::vector<CredentialProblem>> load_credentials(
    const SecurityOptions& options, const Bearer& bearer, const X509* in_use) {
    return Loader(options, bearer, in_use).load();
}

}  // namespace bullring
