// Owns: what connections are secured with at this time, for all threads of a process, and what was
// seen of the files that it has been read from.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "src/security/credential_marks.hpp"
#include "src/security/tls_context.hpp"

namespace bullring {

class TlsSource {
public:
    TlsSource(std::shared_ptr<const TlsContext> context, CredentialMarks marks)
        : context_(std::move(context)), marks_(std::move(marks)) {}

    /// Never null. Not for a node's loop, which is handed what has been read anew.
    std::shared_ptr<const TlsContext> now() const {
        const std::lock_guard lock(mutex_);
        return context_;
    }
    /// Of the files before they were read for the first time.
    const CredentialMarks& first_marks() const { return marks_; }
    void replace(std::shared_ptr<const TlsContext> context) {
        const std::lock_guard lock(mutex_);
        context_ = std::move(context);
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const TlsContext> context_;
    const CredentialMarks marks_;
};

/// Reads the files. Null when nothing is secured; the error names the file.
tl::expected<std::shared_ptr<TlsSource>, std::string> open_tls(const SecurityOptions& options,
                                                               const Bearer& bearer);
/// The same again, while connections are secured with `in_use`.
tl::expected<std::shared_ptr<const TlsContext>, std::string> load_tls_anew(
    const SecurityOptions& options, const Bearer& bearer, const TlsContext& in_use);

}  // namespace bullring
