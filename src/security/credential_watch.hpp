// Owns: the thread that reads credentials anew, when it is asked to and when one of their files has
// changed, and that says in time when a certificate is about to end. What cannot be read, or does
// not fit together, leaves the old ones in force.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "src/base/log/logging.hpp"
#include "src/security/tls_source.hpp"

namespace bullring {

class CredentialWatch {
public:
    using Context = std::shared_ptr<const TlsContext>;
    using Load = std::function<tl::expected<Context, std::string>(
        const SecurityOptions&, const Bearer&, const TlsContext& in_use)>;
    /// For people. Called by the thread, and by the constructor where the file of the lists of
    /// revocations is not there yet.
    using Tell = std::function<void(LogLevel, const std::string&)>;

    /// Both are called by the thread, and never after the end of the destructor.
    struct Callbacks {
        /// The source has the new credentials.
        std::function<void(Context)> renewed = [](const Context&) {};
        /// They have been left as they were, and why.
        std::function<void(const std::string&)> left = [](const std::string&) {};
    };
    CredentialWatch(SecurityOptions options, Bearer bearer, std::shared_ptr<TlsSource> source,
                    Callbacks callbacks, Load load = &load_tls_anew, Tell tell = &tell_log);
    CredentialWatch(const CredentialWatch&) = delete;
    CredentialWatch& operator=(const CredentialWatch&) = delete;
    /// Waits for the thread, but not for a disk that does not answer: then the thread ends when it
    /// does.
    ~CredentialWatch();

    /// Soon. Never waits.
    void read_again() const;

    /// The log of this process.
    static void tell_log(LogLevel level, const std::string& text) { log(level, text); }

private:
    class Reader;

    std::shared_ptr<Reader> reader_;
    std::thread thread_;
};

/// The days before the end of a certificate at which it is said: 30, 7, 1, and 0 for its end.
/// The one that has been reached; nothing when the end is further away.
std::optional<std::int64_t> days_to_warn_of(std::int64_t seconds_left);

}  // namespace bullring
