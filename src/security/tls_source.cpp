#include "src/security/tls_source.hpp"

namespace bullring {

namespace {

tl::expected<std::shared_ptr<const TlsContext>, std::string> load(const SecurityOptions& options,
                                                                  const Bearer& bearer,
                                                                  const Credentials* in_use) {
    auto credentials = load_credentials(options, bearer, in_use);
    if (credentials) return TlsContext::make(std::move(*credentials), bearer);
    std::string problems;
    for (const CredentialProblem& problem : credentials.error())
        problems += (problems.empty() ? "" : "; ") + to_text(problem);
    return tl::unexpected(std::move(problems));
}

}  // namespace

tl::expected<std::shared_ptr<const TlsContext>, std::string> load_tls_anew(
    const SecurityOptions& options, const Bearer& bearer, const TlsContext& in_use) {
    return load(options, bearer, &in_use.credentials());
}

tl::expected<std::shared_ptr<TlsSource>, std::string> open_tls(const SecurityOptions& options,
                                                               const Bearer& bearer) {
    if (options.mode == SecurityMode::none) return nullptr;
    CredentialMarks marks = marks_of(options);
    auto context = load(options, bearer, nullptr);
    if (!context) return tl::unexpected(std::move(context.error()));
    return std::make_shared<TlsSource>(std::move(*context), std::move(marks));
}

}  // namespace bullring
