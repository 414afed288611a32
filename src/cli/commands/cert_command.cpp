// `bullring cert`: a small CA in a directory, its certificates, and the list of those revoked.
//
// The directory has ca.pem, ca.key, crl.pem, and in issued/ a copy of every certificate: what was
// stolen can be revoked without it.
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/private_file.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/commands/about_file.hpp"
#include "src/cli/commands/actions.hpp"
#include "src/cli/commands/commands.hpp"
#include "src/cli/credentials/authority.hpp"
#include "src/cli/credentials/description.hpp"
#include "src/cli/credentials/pem.hpp"
#include "src/security/peer_identity.hpp"
#include "src/security/pem_text.hpp"

namespace bullring {

namespace {

template <class Value>
using Result = tl::expected<Value, Failure>;

tl::unexpected<Failure> usage(std::string why) {
    return tl::unexpected(Failure{wrong_usage, std::move(why)});
}
tl::unexpected<Failure> failure(std::string why) {
    return tl::unexpected(Failure{not_done, std::move(why)});
}

std::string in(const std::string& directory, const std::string& name) {
    if (directory == ".") return name;
    return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

bool is_there(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0;
}

Result<void> make_directory(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) == 0) return {};
    const int error = errno;
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return {};
    return failure(fmt::format("the directory {} can't be made: {}", in_quotes(path),
                               std::generic_category().message(error)));
}

Result<void> write(const std::string& path, std::string_view text, mode_t mode, bool overwrite) {
    const auto written = overwrite ? replace_file(path, text, mode) : create_file(path, text, mode);
    if (!written) return failure(about_file(path, written.error().why));
    return {};
}

/// The key first: a certificate without its key is worth nothing.
Result<void> write_pair(const std::string& directory, const std::string& name,
                        const CertificateAndKey& made, bool overwrite) {
    const std::string key = in(directory, name + ".key");
    if (auto written = write(key, made.key.view(), secret_mode, overwrite); !written)
        return written;
    auto written = write(in(directory, name + ".pem"), made.certificate, public_mode, overwrite);
    if (!written && !overwrite) ::unlink(key.c_str());
    return written;
}

Result<void> refuse_what_is_there(const std::string& directory, const std::string& name,
                                  const std::string& right) {
    for (const char* kind : {".pem", ".key"}) {
        const std::string path = in(directory, name + kind);
        if (is_there(path)) return usage(about_file(path, "is there already; " + right));
    }
    return {};
}

std::string made_text(const std::string& directory, const std::string& name,
                      const std::string& what, const CertificateAndKey& made) {
    return fmt::format("{}, {}: {}, until {}\n", in(directory, name + ".pem"),
                       in(directory, name + ".key"), what, made.not_after);
}

Result<std::string> make_ca(const CertOptions& options) {
    const std::string cluster = options.cluster.value_or("bullring");
    const auto missing = refuse_what_is_there(
        options.out, "ca", "expected another --out DIR for a new CA: it replaces no older one");
    if (!missing) return tl::unexpected(missing.error());
    const auto made = Authority::make(cluster, options.days);
    if (!made) return failure(made.error());
    const auto written = make_directory(options.out).and_then([&] {
        return write_pair(options.out, "ca", *made, false);
    });
    if (!written) return tl::unexpected(written.error());
    return made_text(options.out, "ca", "the CA of cluster " + cluster, *made);
}

/// A CA, and the turn to sign with it: other processes wait until this is gone.
struct OpenedAuthority {
    Authority ca;
    OwnedFd turn;
};

Result<OpenedAuthority> open_ca(const std::string& directory) {
    const auto certificate = read_text_file(in(directory, "ca.pem"));
    if (!certificate)
        return usage(certificate.error().why +
                     "; expected the CA, as bullring cert ca makes it, in the directory of --ca");
    const std::string key_path = in(directory, "ca.key");
    auto turn = turn_at(key_path);
    if (!turn) return tl::unexpected(turn.error());
    const auto key = read_private_file(key_path);
    if (!key) return usage(about_file(key_path, key.error().why));
    auto opened = Authority::open(*certificate, key->view());
    if (!opened)
        return usage(fmt::format("the CA in {}: {}", in_quotes(directory), opened.error()));
    return OpenedAuthority{std::move(*opened), std::move(*turn)};
}

/// One certificate, and the name of its files.
struct Order {
    std::string name;
    std::string what;  // for people
    Subject subject;
};

std::vector<Order> orders_of(const CertOptions& options, const std::string& cluster) {
    const auto uri = [&](PeerRole role, protocol::NodeId id = protocol::nobody) {
        return identity_uri(cluster, {role, id});
    };
    std::vector<Order> orders;
    switch (options.action) {
        case CertAction::admin:
            orders.push_back({"admin", "administrators", {uri(PeerRole::admin), "admin", false}});
            break;
        case CertAction::observer:
            orders.push_back(
                {"observer", "observers", {uri(PeerRole::observer), "observer", false}});
            break;
        default:
            for (const protocol::NodeId id : options.ids) {
                const std::string number = std::to_string(id.value);
                orders.push_back({"node-" + number,
                                  "node " + number,
                                  {uri(PeerRole::member, id), "node " + number, true}});
            }
    }
    return orders;
}

Result<std::string> make_certificate(const Authority& ca, const CertOptions& options,
                                     const std::string& cluster, const Order& order) {
    const auto made = ca.issue(cluster, order.subject, options.days);
    if (!made) return failure(made.error());
    // Noted before it is given to anybody.
    const std::string issued = in(options.ca, "issued");
    const auto written =
        make_directory(issued)
            .and_then([&] {
                return write(in(issued, order.name + "-" + made->serial + ".pem"),
                             made->certificate, public_mode, false);
            })
            .and_then(
                [&] { return write_pair(options.out, order.name, *made, options.overwrite); });
    if (!written) return tl::unexpected(written.error());
    return made_text(options.out, order.name, order.what + " of cluster " + cluster, *made);
}

Result<std::string> make_certificates(const CertOptions& options) {
    const auto authority = open_ca(options.ca);
    if (!authority) return tl::unexpected(authority.error());
    const Authority* const ca = &authority->ca;
    const std::string cluster =
        options.cluster.value_or(ca->cluster().empty() ? "bullring" : ca->cluster());
    if (!ca->cluster().empty() && ca->cluster() != cluster)
        return usage(fmt::format("--cluster: {} is not the cluster of the CA in {}, which is {}",
                                 in_quotes(cluster), in_quotes(options.ca),
                                 in_quotes(ca->cluster())));
    const std::string end = options.days ? ca->ends_before(*options.days) : std::string();
    if (!end.empty())
        return usage(fmt::format("--days: {} days are longer than the CA lasts, which ends on {}",
                                 *options.days, end));
    const std::vector<Order> orders = orders_of(options, cluster);
    for (const Order& order : orders) {
        if (options.overwrite) break;
        const auto missing =
            refuse_what_is_there(options.out, order.name, "--overwrite replaces it");
        if (!missing) return tl::unexpected(missing.error());
    }
    if (const auto made = make_directory(options.out); !made) return tl::unexpected(made.error());
    std::string text;
    for (const Order& order : orders) {
        auto made = make_certificate(*ca, options, cluster, order);
        if (!made) return made;
        text += *made;
    }
    return text;
}

Result<std::string> show(const CertOptions& options) {
    std::string shown;
    for (const std::string& path : options.files) {
        const auto text = read_text_file(path);
        if (!text) return usage(text.error().why);
        const auto certificates = certificates_in(*text, OtherBlocks::skip);
        if (certificates)
            for (const OwnedCertificate& one : *certificates)
                shown += one_line(path) + "\n" + description(*one);
        const auto lists = revocation_lists_in(*text, OtherBlocks::skip);
        if (lists)
            for (const OwnedCrl& one : *lists) shown += one_line(path) + "\n" + description(*one);
        if (!certificates && !lists)
            return usage(about_file(path, certificates.error() + ", or a list of revoked ones"));
    }
    return shown;
}

Result<std::string> make_list(const CertOptions& options) {
    const auto authority = open_ca(options.ca);
    if (!authority) return tl::unexpected(authority.error());
    const Authority* const ca = &authority->ca;
    std::vector<OwnedCertificate> certificates;
    std::vector<X509*> revoked;
    for (const std::string& path : options.files) {
        const auto text = read_text_file(path);
        if (!text) return usage(text.error().why);
        auto all = certificates_in(*text, OtherBlocks::skip);
        if (!all) return usage(about_file(path, all.error()));
        std::vector<OwnedCertificate>& found = *all;
        // The first one is what the file is for; those that follow lead to the CA.
        if (X509_check_ca(found.front().get()) != 0)
            return usage(about_file(path,
                                    "is the certificate of a CA, which no list of its own revokes; "
                                    "expected those that it has signed. To part with a CA, take it "
                                    "out of every file of --tls-ca"));
        if (!ca->has_signed(*found.front()))
            return usage(about_file(path, fmt::format("is not signed by the CA in {}, {}",
                                                      in_quotes(options.ca), ca->name())));
        revoked.push_back(found.front().get());
        certificates.push_back(std::move(found.front()));
    }
    const std::string path = in(options.ca, "crl.pem");
    std::string earlier;
    if (is_there(path)) {
        auto text = read_text_file(path);
        if (!text) return usage(text.error().why);
        earlier = std::move(*text);
    }
    const auto list = ca->revocation_list(earlier, revoked, options.days);
    if (!list) return usage(fmt::format("the CA in {}: {}", in_quotes(options.ca), list.error()));
    if (const auto written = write(path, *list, public_mode, true); !written)
        return tl::unexpected(written.error());
    const auto made = revocation_lists_in(*list);
    return one_line(path) + "\n" + (made ? description(*made->front()) : "");
}

Result<std::string> done(const CertOptions& options) {
    switch (options.action) {
        case CertAction::ca: return make_ca(options);
        case CertAction::node:
        case CertAction::admin:
        case CertAction::observer: return make_certificates(options);
        case CertAction::show: return show(options);
        case CertAction::revoke:
        case CertAction::crl: return make_list(options);
    }
    return {};
}

int run_cert(const CertOptions& options) {
    const auto answer = done(options);
    if (!answer) {
        print_error(answer.error().why);
        return answer.error().status;
    }
    return print_answer(*answer) ? 0 : not_done;
}

void take_ids(const std::vector<std::string>& operands, std::vector<protocol::NodeId>& ids,
              Report& report) {
    for (auto text = std::next(operands.begin()); text != operands.end(); ++text) {
        if (text->empty()) continue;
        const auto id = parse_node_id(*text);
        if (!id)
            report.add(id.error());
        else if (std::find(ids.begin(), ids.end(), *id) != ids.end())
            report.add("ID " + std::to_string(id->value) + " is given twice");
        else
            ids.push_back(*id);
    }
}

void refuse_meaningless_flags(CertAction action, const Given& given) {
    const bool issues =
        action == CertAction::node || action == CertAction::admin || action == CertAction::observer;
    const bool makes_ca = action == CertAction::ca;
    const bool shows = action == CertAction::show;
    const auto refuse = [&](const char* flag, const char* right) {
        refuse_flag(flag, name(action), right, given);
    };
    if (!issues) refuse("overwrite", "cert node, admin and observer");
    if (!issues && !makes_ca) refuse("out", "cert ca, node, admin and observer");
    if (!issues && !makes_ca) refuse("cluster", "cert ca, node, admin and observer");
    if (makes_ca || shows) refuse("ca", "cert node, admin, observer, revoke and crl");
    if (shows) refuse("days", "all that is signed");
}

}  // namespace

Work cert_command(const Given& given) {
    const auto& [subcommand, request, operands, command, environment, report] = given;
    CertOptions options;
    options.cluster = request.cluster.asked();
    options.ca = request.ca.asked().value_or(".");
    options.out = request.out.asked().value_or(".");
    options.days = request.days.asked();
    options.overwrite = request.overwrite.value;
    for (const auto& [flag, directory] : {std::pair{"ca", &options.ca}, {"out", &options.out}})
        if (directory->empty()) report.refuse(flag, "", "names no directory");
    const Action* const action = checked_action(given);
    if (action == nullptr) return {std::move(options), run_cert};
    options.action = *protocol::named<CertAction>(action->name);
    refuse_meaningless_flags(options.action, given);
    if (options.action == CertAction::node)
        take_ids(operands, options.ids, report);
    else
        options.files.assign(std::next(operands.begin()), operands.end());
    return {std::move(options), run_cert};
}

}  // namespace bullring
