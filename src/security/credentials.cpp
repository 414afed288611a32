#include "src/security/credentials.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "src/base/os/private_file.hpp"
#include "src/base/text/rfc3339.hpp"
#include "src/base/text/text.hpp"
#include "src/security/openssl_reason.hpp"
#include "src/security/peer_identity.hpp"
#include "src/security/pem_text.hpp"
#include "src/security/revocations.hpp"
#include "src/security/trust.hpp"

namespace bullring {

namespace {

class Loader {
public:
    Loader(const SecurityOptions& options, const Bearer& bearer, const Credentials* in_use)
        : options_(options), bearer_(bearer), in_use_(in_use) {}

    tl::expected<Credentials, std::vector<CredentialProblem>> load() {
        loaded_.mode = options_.mode;
        if (options_.mode == SecurityMode::key) load_keys();
        if (options_.mode == SecurityMode::tls) load_certificates();
        if (!problems_.empty()) return tl::unexpected(std::move(problems_));
        return std::move(loaded_);
    }

private:
    void say(const char* flag, const std::string& file, std::string what, bool passes = false) {
        problems_.push_back({flag, file, std::move(what), passes});
    }

    // ---- Keys.

    void read_keys(const char* flag, const std::string& file, std::vector<Key>& into) {
        if (file.empty()) return;
        auto keys = read_key_file(file);
        if (keys)
            into = std::move(*keys);
        else
            for (NotRead& problem : keys.error())
                say(flag, file, std::move(problem.why), problem.passes);
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

    template <class Text, class Value, class Parse>
    void take(const char* flag, const std::string& file, const tl::expected<Text, NotRead>& text,
              const Parse& parse, Value& into) {
        if (!text) return say(flag, file, text.error().why, text.error().passes);
        auto found = parse(*text);
        if (found)
            into = std::move(*found);
        else
            say(flag, file, std::move(found.error()));
    }

    void read_files() {
        const std::string& ca = options_.ca_file;
        const std::string& crl = options_.crl_file;
        const auto others = crl == ca ? OtherBlocks::skip : OtherBlocks::refuse;
        const auto chain_in = [](const std::string& pem) {
            return certificates_in(pem, OtherBlocks::skip);
        };
        const auto key_in = [](const SecretText& pem) { return private_key_in(pem.view()); };
        const auto authorities_in = [&](const std::string& pem) {
            return certificates_in(pem, others);
        };
        const auto lists_in = [&](const std::string& pem) {
            return revocation_lists_in(pem, others);
        };
        take("tls-cert", options_.certificate_file, read_regular_file(options_.certificate_file),
             chain_in, loaded_.chain);
        take("tls-key", options_.private_key_file, read_private_file(options_.private_key_file),
             key_in, loaded_.private_key);
        take("tls-ca", ca, read_regular_file(ca), authorities_in, loaded_.authorities);
        if (!crl.empty() && !awaits_first_list())
            take("tls-crl", crl, read_regular_file(crl), lists_in, loaded_.revocations);
    }

    /// As long as there is no list nothing has been revoked. One that was there is missed.
    bool awaits_first_list() const {
        struct stat about {};
        return (in_use_ == nullptr || in_use_->revocations.empty()) &&
               ::stat(options_.crl_file.c_str(), &about) != 0 && errno == ENOENT;
    }

    void load_certificates() {
        read_files();
        if (loaded_.chain.empty()) return;
        X509& mine = *loaded_.chain.front();
        loaded_.not_before = seconds_of(X509_get0_notBefore(&mine));
        loaded_.not_after = seconds_of(X509_get0_notAfter(&mine));
        if (loaded_.private_key && X509_check_private_key(&mine, loaded_.private_key.get()) != 1)
            say("tls-key", options_.private_key_file,
                "is not the key of " + in_quotes(options_.certificate_file) +
                    "; expected the one that was made with it",
                true);
        ERR_clear_error();
        const bool is_ours = check_identity(mine);
        if (loaded_.private_key) check_strength(mine);
        if (!all_are_authorities()) return;
        if (in_use_ != nullptr) check_revocations(in_use_->revocations);
        check_trusted(mine, is_ours);
    }

    /// OpenSSL refuses what is too weak when a context is made of it.
    void check_strength(X509& mine) {
        const OwnedSslContext context(SSL_CTX_new(TLS_method()));
        bool strong = context && SSL_CTX_use_certificate(context.get(), &mine) == 1;
        for (std::size_t i = 1; strong && i < loaded_.chain.size(); ++i)
            strong = SSL_CTX_add1_chain_cert(context.get(), loaded_.chain[i].get()) == 1;
        if (!strong)
            say("tls-cert", options_.certificate_file, "does not serve TLS: " + openssl_reason());
        level_ = context ? SSL_CTX_get_security_level(context.get()) : 0;
    }

    bool all_are_authorities() {
        for (const OwnedCertificate& one : loaded_.authorities) {
            if (X509_check_ca(one.get()) != 0) continue;
            const bool says_so = (X509_get_extension_flags(one.get()) & EXFLAG_CA) != 0;
            std::array<char, 128> name{};
            X509_NAME_oneline(X509_get_subject_name(one.get()), name.data(), name.size());
            say("tls-ca", options_.ca_file,
                fmt::format("has a certificate that is no CA's, {}{}; expected those of CAs alone",
                            in_quotes(name.data()),
                            says_so ? ": its key usage lacks keyCertSign" : ""));
            return false;
        }
        return !loaded_.authorities.empty();
    }

    bool check_identity(const X509& mine) {
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
        return identity.has_value();
    }

    /// A certificate that has been revoked stays so.
    void check_revocations(const std::vector<OwnedCrl>& in_use) {
        std::string why = setback(loaded_.revocations, in_use, loaded_.authorities);
        if (!why.empty()) say("tls-crl", options_.crl_file, std::move(why));
    }

    /// As the others will judge it.
    void check_trusted(X509& mine, bool is_ours) {
        const OwnedStore store = trust_store(loaded_.authorities, loaded_.revocations);
        const OwnedStoreContext context(X509_STORE_CTX_new());
        STACK_OF(X509)* const between = sk_X509_new_null();
        for (const OwnedCertificate& one : loaded_.chain) sk_X509_push(between, one.get());
        X509_STORE_CTX_init(context.get(), store.get(), &mine, between);
        X509_STORE_CTX_set_verify_cb(context.get(), &forgive_old_revocations);
        X509_VERIFY_PARAM* const how = X509_STORE_CTX_get0_param(context.get());
        X509_VERIFY_PARAM_set_auth_level(how, level_);
        X509_VERIFY_PARAM_set_purpose(how, X509_PURPOSE_SSL_CLIENT);
        // Time mends the one, a renewal the other: a node starts, says so and waits.
        const bool starts = in_use_ == nullptr && bearer_.node;
        if (starts || (in_use_ != nullptr && X509_cmp(&mine, in_use_->chain.front().get()) == 0))
            X509_VERIFY_PARAM_set_flags(how, X509_V_FLAG_NO_CHECK_TIME);
        const int trusted = X509_verify_cert(context.get());
        const int error = X509_STORE_CTX_get_error(context.get());
        const std::string why =
            why_not_trusted(error, X509_STORE_CTX_get_current_cert(context.get()));
        sk_X509_free(between);
        ERR_clear_error();
        if (trusted == 1 || (error == X509_V_ERR_INVALID_PURPOSE && !is_ours)) return;
        if (error == X509_V_ERR_UNABLE_TO_GET_CRL)
            return say("tls-crl", options_.crl_file,
                       "has no list of the CA that has signed " +
                           in_quotes(options_.certificate_file) + "; expected one of each CA of " +
                           in_quotes(options_.ca_file),
                       true);
        std::string text = "would be refused by the others: " + why;
        const bool is_anothers =
            why == why_not_trusted(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
        if (is_anothers)
            text = "is not signed by a CA of " + in_quotes(options_.ca_file) +
                   "; expected the CA that has signed it";
        if (error == X509_V_ERR_CERT_HAS_EXPIRED)
            text += " on " + std::string(Rfc3339(std::chrono::seconds(loaded_.not_after)).date()) +
                    "; expected a new one";
        say("tls-cert", options_.certificate_file, text, is_anothers);
    }

    const SecurityOptions& options_;
    const Bearer& bearer_;
    const Credentials* in_use_;
    int level_ = 0;  // of security, as TLS will ask for it
    Credentials loaded_;
    std::vector<CredentialProblem> problems_;
};

}  // namespace

std::string to_text(const CredentialProblem& problem) {
    return in_quotes(problem.file) + " " + problem.what;
}

std::string missing_list(const SecurityOptions& options, const Credentials& loaded) {
    if (options.crl_file.empty() || !loaded.revocations.empty()) return {};
    return in_quotes(options.crl_file) +
           " is not there yet: nothing is revoked until it is, and then it is read";
}

tl::expected<Credentials, std::vector<CredentialProblem>> load_credentials(
    const SecurityOptions& options, const Bearer& bearer, const Credentials* in_use) {
    return Loader(options, bearer, in_use).load();
}

}  // namespace bullring
