// Owns: the thread that reads credentials anew, when it is asked to and when one of their files has
// changed, and that says in time when a certificate is about to end. What cannot be read, or does
// not fit together, leaves the old ones in force.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/os/bell.hpp"
#include "src/security/tls_source.hpp"

namespace bullring {

class CredentialWatch {
public:
    using Context = std::shared_ptr<const TlsContext>;

    /// `renewed` is called by the thread, after the source has the new credentials.
    CredentialWatch(SecurityOptions options, Bearer bearer, std::shared_ptr<TlsSource> source,
                    std::function<void(Context)> renewed);
    CredentialWatch(const CredentialWatch&) = delete;
    CredentialWatch& operator=(const CredentialWatch&) = delete;
    ~CredentialWatch();

    /// Soon. Never waits.
    void read_again() const { bell_.ring(); }

    /// What tells one state of the files from another without reading them.
    using Marks = std::vector<std::string>;

private:
    void run();
    void read(bool asked);
    void warn_of_end();

    SecurityOptions options_;
    Bearer bearer_;
    std::shared_ptr<TlsSource> source_;
    std::function<void(Context)> renewed_;
    Bell bell_;
    std::atomic<bool> over_{false};
    Marks seen_;
    std::int64_t warned_not_after_ = 0;
    std::int64_t warned_days_ = 0;
    std::thread thread_;
};

/// The days before the end of a certificate at which it is said: 30, 7, 1, and 0 for its end.
/// The one that has been reached; nothing when the end is further away.
std::optional<std::int64_t> days_to_warn_of(std::int64_t seconds_left);

}  // namespace bullring
